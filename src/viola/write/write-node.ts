import { type DesiredNode, desiredNode } from '../../api/desired-node.ts';
import type { Effect } from '../../api/effects.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers } from '../../api/names.ts';
import type { NodeError, NodeResult, PostedNode } from '../../api/node-configs-http.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { isFieldConflict, mayTakeOver } from './field-conflict.ts';
import { judge } from './judge-write.ts';
import { isMoved, nodeErrorOf } from './node-error.ts';
import { withRemovalConsent } from './removal-consent.ts';
import { appliedWithinSeconds } from './write-limit.ts';

export interface Target {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly providerId: string;
}

export interface WriteOptions {
  readonly perform: Perform<Effect>;
  readonly clock: Pick<Clock, 'now'>;
  readonly acceptUnfenced: boolean;
  /** True: also take over kubectl's fields in objects that this Viola wrote before. */
  readonly takeOver: boolean;
  /** True: the API server validates the write and stores nothing. */
  readonly dryRun?: boolean;
  readonly signal: AbortSignal;
}

export type Written =
  | { readonly kind: 'accepted'; readonly result: NodeResult }
  | { readonly kind: 'refused'; readonly error: NodeError };

/** Attempts after concurrent writes, usually status updates by the controller. */
const maxTries = 5;

/** Writes one posted node to the business cluster, or returns the refusal. Throws only on abort or timeout. */
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
  /** A recent list showed no object with this name. */
  readonly isAbsent: boolean;
  readonly lastTry: boolean;
}

/** Decides once on the live object; undefined: the object changed meanwhile. */
async function tryWrite(
  target: Target,
  posted: PostedNode,
  content: DesiredNode,
  options: Attempt,
): Promise<Written | undefined> {
  const { client, namespace } = target;
  const { signal, isAbsent, lastTry } = options;
  const { nodeName } = posted;
  const ref = { namespace, name: content.name };
  const live = isAbsent ? undefined : await client.find(nodeConfigs, ref, { signal });
  // Consent is for the uid that this attempt has read.
  const node = withRemovalConsent(content, posted, live, options.clock.now());
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

  /** The API server compares field owners before versions, so a field conflict may hide a newer object. */
  async function hasMoved(error: unknown): Promise<boolean> {
    if (!isFieldConflict(error)) return isMoved(error);
    const now = await client.find(nodeConfigs, ref, { signal });
    return now?.metadata.resourceVersion !== live?.metadata.resourceVersion;
  }
}

/**
 * Applies server-side exactly onto the object that was read. No object has resourceVersion 1, so "1" asserts absence,
 * and the uid prevents recreating a deleted object. Fields set by the legacy Viola with kubectl are taken over; other
 * managers' fields are a conflict.
 */
async function applyNode(
  { client, namespace }: Target,
  node: DesiredNode,
  live: MultiNicNodeConfig | undefined,
  { perform, takeOver, dryRun = false, signal }: WriteOptions,
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
        dryRun,
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
