import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import type { NodeIdentity } from '../../biz-config/entries.ts';
import { instanceIdOf, nodeNameOf } from '../../viola/node-configs/node-config.ts';

/** MultiNicNodeConfigs in a namespace, indexed by node. */
export interface Directory {
  readonly objects: readonly MultiNicNodeConfig[];
  /** Returns objects with this object name, node name or server id; normally one or none. */
  readonly about: (identity: NodeIdentity) => readonly MultiNicNodeConfig[];
}

export function directoryOf(objects: readonly MultiNicNodeConfig[]): Directory {
  const byKey = Map.groupBy(
    objects.flatMap((object) => keysOf(object).map((key) => ({ key, object }))),
    ({ key }) => key,
  );
  return {
    objects,
    about: ({ objectName, nodeName, instanceId }) => {
      const keys = [`object ${objectName}`, `node ${nodeName}`, `server ${instanceId ?? ''}`];
      return [
        ...new Set(keys.flatMap((key) => (byKey.get(key) ?? []).map(({ object }) => object))),
      ];
    },
  };
}

function keysOf(object: MultiNicNodeConfig): string[] {
  const instanceId = instanceIdOf(object);
  return [
    `object ${object.metadata.name}`,
    `node ${nodeNameOf(object)}`,
    ...(instanceId === '' ? [] : [`server ${instanceId}`]),
  ];
}
