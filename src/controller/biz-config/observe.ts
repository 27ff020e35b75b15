import { labelValue } from '../../api/label-value.ts';
import type { BizConfigGroup } from '../../api/names.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { keyOf } from '../../kube/object.ts';
import type { NodeConfig, Stores } from '../objects/stores.ts';
import type { Observed } from './holders.ts';
import type { Ownerships } from './ownerships.ts';

type NodeConfigStores = Pick<Stores, 'configs' | 'configDirectory'>;

/** Collects a source's plan input from the caches. */
export function observe(
  source: BizConfig,
  group: BizConfigGroup,
  { configs, configDirectory }: NodeConfigStores,
  ownerships: Pick<Ownerships, 'isForeign'>,
): Observed {
  const { name, namespace = '', uid = '', generation = 0 } = source.metadata;
  // Memoised, because each store read parses the object.
  const read = new Map<string, NodeConfig | undefined>();
  const get = (key: string): NodeConfig | undefined => {
    if (!read.has(key)) read.set(key, configs.get(key));
    return read.get(key);
  };
  const isHere = (config: NodeConfig): boolean => config.metadata.namespace === namespace;
  const labelled = configs
    .keysByIndex('bizConfig', labelValue(name))
    .flatMap((key) => get(key) ?? [])
    .filter(isHere);
  return {
    source,
    marks: { group, name, uid, generation },
    labelled,
    find: ({ objectName, nodeName, instanceId }) => {
      const keys = new Set([
        ...(objectName === '' ? [] : [keyOf({ namespace, name: objectName })]),
        ...(nodeName === '' ? [] : configDirectory.byNodeName(nodeName)),
        ...(instanceId === undefined ? [] : configDirectory.byInstanceId(instanceId)),
      ]);
      return [...keys].flatMap((key) => get(key) ?? []).filter(isHere);
    },
    isForeign: (config) => ownerships.isForeign(config),
  };
}
