import { type DesiredNode, desiredNode } from '../api/desired-node.ts';
import type { Effect } from '../api/effects.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { fieldManagers } from '../api/names.ts';
import type { NodeError, NodeResult, PostedNode } from '../api/node-configs-http.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { apiVersionOf } from '../kube/resource.ts';
import type { Perform } from '../process/effects.ts';
import { DeadlineReached } from '../time/deadline.ts';
import { isFieldConflict, mayTakeOver } from './field-conflict.ts';
import { judge } from './judge-write.ts';
import { nodeConfigs } from './node-config.ts';
import { isMoved, nodeErrorOf } from './node-error.ts';
import { appliedWithinSeconds } from './write-limit.ts';

export interface Target {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly providerId: string;
}

export interface WriteOptions {
  readonly perform: Perform<Effect>;
  readonly acceptUnfenced: boolean;
  /** Take over what kubectl wrote into objects of ours too, not only into those that we never wrote. */
  readonly takeOver: boolean;
  readonly signal: AbortSignal;
}

export type Written =
  | { readonly kind: 'accepted'; readonly result: NodeResult }
  | { readonly kind: 'refused'; readonly error: NodeError };

/** How often a write is decided anew because somebody (usually the controller's status) wrote in between. */
const maxTries = 5;

/** Brings one posted node into the business cluster, or says why not; throws only when aborted or out of time. */
export async function writeNode(
  target: Target,
  posted: PostedNode,
  options: WriteOptions & { readonly isAbsent?: boolean },
): Promise<Written> {
  const desired = desiredNode(posted, target.providerId);
  if (desired.kind === 'invalid') return { kind: 'refused', error: desired.error };
  try {
    for (let attempt = 1; ; attempt++) {
      const isAbsent = attempt === 1 && options.isAbsent === true;
      const attempted = { ...options, isAbsent, lastTry: attempt === maxTries };
      const written = await tryWrite(target, posted, desired.node, attempted);
      if (written) return written;
    }
  } catch (error) {
    if (options.signal.aborted || error instanceof DeadlineReached) throw error;
    return { kind: 'refused', error: nodeErrorOf(posted.nodeName, error) };
  }
}

interface Attempt extends WriteOptions {
  /** A list showed a moment ago that there is no object of this name. */
  readonly isAbsent: boolean;
  readonly lastTry: boolean;
}

/** One decision on what is there now; undefined when the object moved while it was made. */
async function tryWrite(
  target: Target,
  posted: PostedNode,
  node: DesiredNode,
  options: Attempt,
): Promise<Written | undefined> {
  const { client, namespace } = target;
  const { signal, isAbsent, lastTry } = options;
  const { nodeName } = posted;
  const ref = { namespace, name: node.name };
  const live = isAbsent ? undefined : await client.find(nodeConfigs, ref, { signal });
  const verdict = judge(live, posted, node, target, options);
  if (verdict === 'unchanged' && live) return accepted(nodeName, 'unchanged', live);
  if (verdict !== 'write' && verdict !== 'unchanged') return { kind: 'refused', error: verdict };
  try {
    const after = await applyNode(target, node, live, options);
    return accepted(nodeName, live ? 'updated' : 'created', after);
  } catch (error) {
    if (lastTry || !(await hasMoved(error))) throw error;
    return undefined;
  }

  /** The API server compares owners of fields before versions: behind a conflict of fields another object may stand. */
  async function hasMoved(error: unknown): Promise<boolean> {
    if (!isFieldConflict(error)) return isMoved(error);
    const now = await client.find(nodeConfigs, ref, { signal });
    return now?.metadata.resourceVersion !== live?.metadata.resourceVersion;
  }
}

/**
 * Server-side apply onto exactly what was read: no object ever has the version 1, so that "there is none" holds too, and
 * the uid keeps an object that was deleted meanwhile from being created again. Fields that the deployed Viola set with
 * kubectl are taken over, those of anybody else are a conflict.
 */
async function applyNode(
  { client, namespace }: Target,
  node: DesiredNode,
  live: MultiNicNodeConfig | undefined,
  { perform, takeOver, signal }: WriteOptions,
): Promise<MultiNicNodeConfig> {
  const { name, labels, annotations, spec } = node;
  const { uid, resourceVersion = '1' } = live?.metadata ?? {};
  const object = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: { name, namespace, labels, annotations, resourceVersion, ...(uid ? { uid } : {}) },
    spec,
  };
  const apply = (force: boolean) =>
    perform('viola.node-config.apply', () =>
      client.apply(nodeConfigs, object, {
        fieldManager: fieldManagers.viola,
        force,
        timeoutSeconds: appliedWithinSeconds,
        signal,
      }),
    );
  try {
    return await apply(false);
  } catch (error) {
    if (!mayTakeOver(error, live, takeOver)) throw error;
    return apply(true);
  }
}

export function accepted(
  nodeName: string,
  status: NodeResult['status'],
  { metadata: { uid = '', generation = 0 } }: MultiNicNodeConfig,
): Written {
  return { kind: 'accepted', result: { nodeName, status, uid, generation } };
}
