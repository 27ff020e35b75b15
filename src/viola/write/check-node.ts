import type { Effect } from '../../api/effects.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { Base, CheckRequest } from '../../api/node-configs-http.ts';
import { HttpProblem } from '../../http/problem.ts';
import { isAbsent } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { findNode } from '../read/read-nodes.ts';
import { isMoved } from './node-error.ts';

export interface CheckOptions {
  readonly perform: Perform<Effect>;
  readonly signal: AbortSignal;
}

/** Attempts after the object was deleted and created again. */
const maxTries = 3;

/**
 * Sets only the annotation for a check by the controller. Throws 404 when no object exists, 409 when the object is
 * created again all the time.
 */
export async function requestCheck(
  cluster: Cluster,
  nodeName: string,
  request: CheckRequest,
  options: CheckOptions,
): Promise<Base> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await annotate(cluster, nodeName, request, options);
    } catch (error) {
      if (!isMoved(error) && !isAbsent(error)) throw error;
      if (attempt < maxTries) continue;
      const detail = `${nodeName} was deleted and created again several times; repeat later`;
      throw new HttpProblem(409, 'StaleBase', detail, { cause: error });
    }
  }
}

async function annotate(
  cluster: Cluster,
  nodeName: string,
  { id, heal = false }: CheckRequest,
  { perform, signal }: CheckOptions,
): Promise<Base> {
  const { client, namespace } = cluster;
  const live = await findNode(cluster, nodeName, signal);
  const { name, uid = '', generation = 0 } = live.metadata;
  const annotation = heal ? annotations.heal : annotations.check;
  if (live.metadata.annotations?.[annotation] === id) return { uid, generation };
  // Without resourceVersion: a status update meanwhile is no conflict.
  const patch = { metadata: { uid, annotations: { [annotation]: id } } };
  await perform('viola.node-config.check', () =>
    client.patch(nodeConfigs, { namespace, name }, patch, {
      fieldManager: fieldManagers.viola,
      signal,
    }),
  );
  return { uid, generation };
}
