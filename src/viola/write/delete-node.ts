import { rfc3339 } from '../../api/condition.ts';
import { deletionBasis, endsWaitForNode } from '../../api/delete-consent.ts';
import type { Effect } from '../../api/effects.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import type { Base, DeleteBasis, DeleteReason } from '../../api/node-configs-http.ts';
import { type RemovalConsent, removalConsentOf } from '../../api/removal-consent.ts';
import { HttpProblem } from '../../http/problem.ts';
import { isAbsent } from '../../kube/errors.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import type { Cluster } from '../clusters/clusters.ts';
import { nodeConfigs } from '../node-configs/node-config.ts';
import { findNode } from '../read/read-nodes.ts';
import { otherThan, ownerRefusal, refusalOf } from './fence.ts';
import { isMoved } from './node-error.ts';
import { consentText, hashOf, listedMacs, macsOf } from './removal-consent.ts';

export interface DeleteOptions {
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly acceptUnfenced: boolean;
  /** Undefined: named. */
  readonly basis?: DeleteBasis | undefined;
  /** Reason `server-gone` is evidence, whatever the basis. */
  readonly reason?: DeleteReason | undefined;
  /** Uid of the OpenstackConfig that must still deliver the node. */
  readonly sourceUid?: string | undefined;
  readonly signal: AbortSignal;
}

/** Attempts after concurrent writes, usually status updates by the controller. */
const maxTries = 5;

/**
 * Deletes a node config; the finalizer cleans the node first. Annotations tell the controller whether evidence or
 * consent exists; without them the controller's budget decides. Throws 404 when no object exists, 409 when the object
 * has changed.
 */
export async function deleteNode(
  cluster: Cluster,
  nodeName: string,
  base: Base | undefined,
  options: DeleteOptions,
): Promise<Base> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryDelete(cluster, nodeName, base, options);
    } catch (error) {
      if (!isMoved(error) && !isAbsent(error)) throw error;
      if (attempt < maxTries) continue;
      const detail = `the node config of "${nodeName}" changed during each of ${maxTries} attempts; repeat later`;
      throw new HttpProblem(409, 'StaleBase', detail, { cause: error });
    }
  }
}

/** Decides once on the live object; throws a conflict or 404 when the object changes meanwhile. */
async function tryDelete(
  cluster: Cluster,
  nodeName: string,
  base: Base | undefined,
  options: DeleteOptions,
): Promise<Base> {
  const { client, namespace } = cluster;
  const { perform, signal } = options;
  const live = await findNode(cluster, nodeName, signal);
  const ref = { namespace, name: live.metadata.name };
  const { uid = '', generation = 0, deletionTimestamp } = live.metadata;
  const isDeleting = deletionTimestamp !== undefined;
  const moved = isDeleting ? otherThan(live, base) : refusalOf(live, base, options);
  const refusal = moved ?? ownerRefusal(live, options.sourceUid);
  if (refusal) throw new HttpProblem(409, refusal.code, `${nodeName}: ${refusal.message}`);
  const resourceVersion = await consent(cluster, live, options);
  if (!isDeleting) {
    await perform('viola.node-config.delete', () =>
      client.delete(nodeConfigs, ref, {
        uid,
        ...(resourceVersion ? { resourceVersion } : {}),
        propagationPolicy: 'Background',
        signal,
      }),
    );
  }
  return { uid, generation };
}

/** Stamps missing evidence or consent; returns the resourceVersion that carries them. */
async function consent(
  { client, namespace }: Cluster,
  live: MultiNicNodeConfig,
  { perform, clock, basis = 'named', reason, signal }: DeleteOptions,
): Promise<string | undefined> {
  const { name, resourceVersion, uid } = live.metadata;
  const wanted = reason === undefined ? basis : 'evidence';
  const stamp = stampOf(live, wanted, reason, clock.now());
  if (!stamp) return resourceVersion;
  const patch = { metadata: { uid, resourceVersion, annotations: stamp } };
  const stamped = await perform('viola.node-config.consent', () =>
    client.patch(nodeConfigs, { namespace, name }, patch, {
      fieldManager: fieldManagers.viola,
      signal,
    }),
  );
  return stamped.metadata.resourceVersion;
}

/** Maximum consent age (1 h) on a live object: an older consent may stem from a deletion that never happened. */
const maxConsentAgeMs = 3_600_000;

type Stamp = Readonly<Record<string, string | null>>;

/**
 * Returns the annotations to write; undefined: none are missing. Consent is stronger than evidence, which the
 * controller compares with the node: evidence never replaces a consent.
 */
function stampOf(
  live: MultiNicNodeConfig,
  wanted: DeleteBasis,
  reason: DeleteReason | undefined,
  now: Date,
): Stamp | undefined {
  if (wanted === 'named') return undefined;
  const spec = hashOf(live);
  const current = basisOf(live, spec, now);
  const hasMark = current !== 'named' && endsWaitForNode(live.metadata);
  const mark = hasMark || reason ? '!' : '';
  const proven = provenBy(live, reason);
  if (isStamped(live, spec, { wanted, current, proven })) {
    return mark === '' || hasMark ? undefined : marked(live.metadata);
  }
  const at = rfc3339(later(now, live.metadata.deletionTimestamp));
  return {
    [annotations.deleteConsent]: `${at}${mark}`,
    [annotations.removalConsent]:
      wanted === 'consent' ? null : evidenceOf(live, spec, { at, proven }),
  };
}

/** Returns the present consent with the mark `!`. */
function marked({ annotations: noted = {} }: MultiNicNodeConfig['metadata']): Stamp {
  return { [annotations.deleteConsent]: `${noted[annotations.deleteConsent]}!` };
}

/**
 * Returns the NICs that evidence for a deletion proves: the listed NICs. Only a deleted server has lost all NICs; a NIC
 * that the controller keeps, or that only the agent reports, is not named by the caller.
 */
function provenBy(live: MultiNicNodeConfig, reason: DeleteReason | undefined): string[] {
  return reason === undefined ? listedMacs(live) : macsOf(live);
}

function evidenceOf(
  live: MultiNicNodeConfig,
  spec: string,
  { at, proven }: Pick<RemovalConsent, 'at' | 'proven'>,
): string {
  const { uid = '' } = live.metadata;
  return consentText({ uid, spec, at, proven, consented: [] });
}

function basisOf({ metadata }: MultiNicNodeConfig, spec: string, now: Date): DeleteBasis {
  return metadata.deletionTimestamp === undefined
    ? deletionBasis(metadata, spec, now, now, maxConsentAgeMs)
    : deletionBasis(metadata, spec, new Date(metadata.deletionTimestamp), now);
}

/** True if the present stamps are as strong as wanted; evidence must prove all named NICs. */
function isStamped(
  live: MultiNicNodeConfig,
  spec: string,
  { wanted, current, proven }: Wanted,
): boolean {
  if (current === 'consent') return true;
  if (wanted !== current) return false;
  const stamped = removalConsentOf(live.metadata, spec)?.proven ?? [];
  return proven.every((mac) => stamped.includes(mac));
}

interface Wanted {
  readonly wanted: DeleteBasis;
  readonly current: DeleteBasis;
  /** NICs that evidence proves. */
  readonly proven: readonly string[];
}

/** Returns the later time: a consent counts only near the deletion, by the clock of the API server. */
function later(now: Date, deletionTimestamp: string | undefined): Date {
  return new Date(Math.max(now.getTime(), Date.parse(deletionTimestamp ?? '') || 0));
}
