import { rfc3339 } from '../api/condition.ts';
import { consentsTo, endsWaitForNode } from '../api/delete-consent.ts';
import type { Effect } from '../api/effects.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../api/names.ts';
import type { Base, DeleteReason } from '../api/node-configs-http.ts';
import { HttpProblem } from '../http/problem.ts';
import { isAbsent } from '../kube/errors.ts';
import type { Perform } from '../process/effects.ts';
import type { Clock } from '../time/clock.ts';
import type { Cluster } from './clusters.ts';
import { otherThan, refusalOf } from './fence.ts';
import { nodeConfigs } from './node-config.ts';
import { isMoved } from './node-error.ts';
import { findNode } from './read-nodes.ts';

export interface DeleteOptions {
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly acceptUnfenced: boolean;
  readonly reason?: DeleteReason | undefined;
  readonly signal: AbortSignal;
}

/** Attempts after concurrent writes, usually status updates by the controller. */
const maxTries = 5;

/**
 * Deletes a node config with consent. The annotation tells the controller that the removal is intended, and the
 * finalizer cleans the node first. Throws 404 when no object exists, 409 when the object has changed.
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
  const refusal = isDeleting ? otherThan(live, base) : refusalOf(live, base, options);
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

/** Maximum consent age (1 h) on a live object: an older consent may stem from a deletion that never happened. */
const maxConsentAgeMs = 3_600_000;

/** Stamps a missing consent; returns the resourceVersion that carries the consent. */
async function consent(
  { client, namespace }: Cluster,
  { metadata }: MultiNicNodeConfig,
  { perform, clock, reason, signal }: DeleteOptions,
): Promise<string | undefined> {
  const { name, resourceVersion, uid, deletionTimestamp } = metadata;
  const now = clock.now();
  const consents =
    deletionTimestamp === undefined
      ? consentsTo(metadata, now, now, maxConsentAgeMs)
      : consentsTo(metadata, new Date(deletionTimestamp), now);
  const isComplete = reason === undefined || endsWaitForNode(metadata);
  if (consents && isComplete) return resourceVersion;
  const time = rfc3339(now);
  const patch = {
    metadata: {
      uid,
      resourceVersion,
      annotations: { [annotations.deleteConsent]: reason === undefined ? time : `${time}!` },
    },
  };
  const stamped = await perform('viola.node-config.consent', () =>
    client.patch(nodeConfigs, { namespace, name }, patch, {
      fieldManager: fieldManagers.viola,
      signal,
    }),
  );
  return stamped.metadata.resourceVersion;
}
