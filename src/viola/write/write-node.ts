import { type DesiredNode, desiredNode } from '../../api/desired-node.ts';
import type { Effect } from '../../api/effects.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { fieldManagers, annotations as names } from '../../api/names.ts';
import type { NodeError, NodeResult, PostedNode } from '../../api/node-configs-http.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { isUndeclared, nodeConfigs } from '../node-configs/node-config.ts';
import { isFieldConflict, mayTakeOver, takesOverLegacy } from './field-conflict.ts';
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

/** Parts of the replaced object for a permitted write. */
export interface Basis {
  /** Undefined: no object exists. */
  readonly uid: string | undefined;
  /** Asserted by the write. */
  readonly resourceVersion: string;
  /** Annotation with the consent to removals, for this uid; undefined: none. */
  readonly consent: string | undefined;
  /** True: the write may take over the legacy Viola's fields. */
  readonly takesOverLegacy: boolean;
}

/** Attempts after concurrent writes, usually status updates by the controller. */
const maxTries = 5;

/** Writes one posted node to the business cluster, or returns the refusal. Throws only on abort or timeout. */
export async function writeNode(
  target: Target,
  posted: PostedNode,
  options: WriteOptions & { readonly known?: Basis | Written | undefined },
): Promise<Written> {
  const desired = desiredNode(posted, target.providerId);
  if (desired.kind === 'invalid') return { kind: 'refused', error: desired.error };
  try {
    for (let attempt = 1; ; attempt++) {
      const known = attempt === 1 ? options.known : undefined;
      const attempted = { ...options, known, lastTry: attempt === maxTries };
      const written = await tryWrite(target, posted, desired.node, attempted);
      if (written) return written;
    }
  } catch (error) {
    if (options.signal.aborted || error instanceof DeadlineReached) throw error;
    return { kind: 'refused', error: nodeErrorOf(posted.nodeName, error) };
  }
}

interface Attempt extends WriteOptions {
  /** Decision on a recently listed object; undefined: the object must be read. */
  readonly known: Basis | Written | undefined;
  readonly lastTry: boolean;
}

/** Writes over the object of the decision; undefined: the object changed meanwhile. */
async function tryWrite(
  target: Target,
  posted: PostedNode,
  content: DesiredNode,
  options: Attempt,
): Promise<Written | undefined> {
  const { client, namespace } = target;
  const { signal, lastTry } = options;
  const ref = { namespace, name: content.name };
  const find = async () => client.find(nodeConfigs, ref, { signal });
  const decided = options.known ?? decide(await find(), { posted, content }, target, options);
  if ('kind' in decided) return decided;
  try {
    const after = await applyNode(target, content, decided, options);
    return accepted(posted.nodeName, decided.uid === undefined ? 'created' : 'updated', after);
  } catch (error) {
    if (lastTry || !(await hasMoved(error, decided))) throw error;
    return undefined;
  }

  /** The API server compares field owners before versions, so a field conflict may hide a newer object. */
  async function hasMoved(error: unknown, { resourceVersion }: Basis): Promise<boolean> {
    if (!isFieldConflict(error)) return isMoved(error);
    return ((await find())?.metadata.resourceVersion ?? noVersion) !== resourceVersion;
  }
}

/** No object has this resourceVersion, so it asserts absence. */
const noVersion = '1';

/** Decides on the live object: permits a write onto exactly this object, or returns the node's result. */
export function decide(
  live: MultiNicNodeConfig | undefined,
  { posted, content }: { readonly posted: PostedNode; readonly content: DesiredNode },
  target: Pick<Target, 'providerId'>,
  options: Pick<WriteOptions, 'clock' | 'acceptUnfenced' | 'takeOver'>,
): Basis | Written {
  // Consent is for the live object's uid.
  const node = withRemovalConsent(content, posted, live, options.clock.now());
  const verdict = judge(live, posted, node, target, options);
  if (verdict === 'unchanged' && live) return accepted(posted.nodeName, 'unchanged', live);
  if (verdict !== 'write' && verdict !== 'unchanged') return { kind: 'refused', error: verdict };
  const { uid, resourceVersion = noVersion } = live?.metadata ?? {};
  return {
    uid,
    resourceVersion,
    consent: node.annotations[names.removalConsent],
    takesOverLegacy: live !== undefined && takesOverLegacy(live, options.takeOver),
  };
}

/**
 * Applies server-side exactly onto the judged object: the resourceVersion is asserted, and the uid prevents recreating
 * a deleted object. Fields set by the legacy Viola with kubectl are taken over; other managers' fields are a
 * conflict.
 */
async function applyNode(
  target: Target,
  content: DesiredNode,
  basis: Basis,
  options: WriteOptions,
): Promise<MultiNicNodeConfig> {
  try {
    return await applyContent(target, content, basis, options);
  } catch (error) {
    const spec = withoutUndeclared(content.spec, error);
    if (!spec) throw error;
    return applyContent(target, { ...content, spec }, basis, options);
  }
}

/**
 * Returns the spec for an older CRD: without mode, as the annotation alone keeps the controller from changing the node,
 * and without consent to adoption, which the controller would not read. Undefined: the error has another cause.
 */
function withoutUndeclared(spec: DesiredNode['spec'], error: unknown) {
  const { mode, existingConfiguration: consent, ...older } = spec;
  const isOlder = (field: string) => isUndeclared(error, field);
  if (mode !== undefined && isOlder('mode')) return older;
  if (consent === undefined || !isOlder('existingConfiguration')) return undefined;
  return mode === undefined ? older : { ...older, mode };
}

async function applyContent(
  { client, namespace }: Target,
  { name, labels, annotations, spec }: DesiredNode,
  { uid, resourceVersion, consent, takesOverLegacy: isLegacyTakenOver }: Basis,
  { perform, dryRun = false, signal }: WriteOptions,
): Promise<MultiNicNodeConfig> {
  const noted =
    consent === undefined ? annotations : { ...annotations, [names.removalConsent]: consent };
  const known = { resourceVersion, ...(uid === undefined ? {} : { uid }) };
  const object = {
    apiVersion: apiVersionOf(nodeConfigs),
    kind: nodeConfigs.kind,
    metadata: { name, namespace, labels, annotations: noted, ...known },
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
    if (uid === undefined || !mayTakeOver(error, isLegacyTakenOver)) throw error;
    return apply(true);
  }
}

function accepted(
  nodeName: string,
  status: NodeResult['status'],
  { metadata: { uid = '', generation = 0 } }: MultiNicNodeConfig,
): Written {
  return { kind: 'accepted', result: { nodeName, status, uid, generation } };
}
