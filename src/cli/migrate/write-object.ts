import type { DesiredNode } from '../../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers, labels } from '../../api/names.ts';
import { marksOf } from '../../biz-config/ownership.ts';
import { isAlreadyExists, isConflict, isNotFound, KubeError } from '../../kube/errors.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { nodeConfigs } from '../../viola/node-configs/node-config.ts';
import type { Run } from './run.ts';
import type { Source } from './source.ts';

/**
 * Creation result. `exists`: another object has this name and is left unchanged; `refused`: the API server rejects
 * the object, for example through an admission webhook.
 */
export type Creation =
  | { readonly kind: 'created' | 'exists' }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Creates an entry's object without the expansion label. No object ever has resourceVersion 1, so this apply can
 * create but never change.
 */
export async function createObject(
  { client, signal }: Run,
  { group, config }: Source,
  { name, labels: ownLabels, annotations, spec }: DesiredNode,
): Promise<Creation> {
  const { namespace = '', name: sourceName, uid = '', generation = 0 } = config.metadata;
  const marks = marksOf({ group, name: sourceName, uid, generation });
  const object = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: {
      name,
      namespace,
      resourceVersion: '1',
      labels: ownLabels,
      annotations: { ...annotations, ...marks.annotations },
    },
    spec,
  };
  try {
    await client.apply(nodeConfigs, object, { fieldManager: fieldManagers.bizConfig, signal });
    return { kind: 'created' };
  } catch (error) {
    if (isAlreadyExists(error) || isConflict(error)) return { kind: 'exists' };
    if (error instanceof KubeError && [400, 422].includes(error.status)) {
      return { kind: 'refused', message: error.message };
    }
    throw error;
  }
}

/** Maximum attempts: status updates cause conflicts. */
const maxTries = 10;

/**
 * Sets or removes the expansion label by a merge patch for this label alone; manager `biz-config` keeps all other
 * fields. `mayWrite` checks the current object. False: `mayWrite` forbids the write, or the object is deleted.
 */
export async function writeLabel(
  { client, signal }: Run,
  live: MultiNicNodeConfig,
  value: string | null,
  mayWrite: (object: MultiNicNodeConfig) => boolean,
): Promise<boolean> {
  let object: MultiNicNodeConfig | undefined = live;
  for (let tries = 1; object; tries++) {
    if (!mayWrite(object)) return false;
    const { resourceVersion } = object.metadata;
    const metadata = { resourceVersion, labels: { [labels.bizConfig]: value } };
    const options = { fieldManager: fieldManagers.cli, signal };
    try {
      await client.patch(nodeConfigs, object.metadata, { metadata }, options);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || tries === maxTries) throw error;
    }
    object = await client.find(nodeConfigs, object.metadata, { signal });
  }
  return false;
}
