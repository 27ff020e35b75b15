import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import { annotations } from '../../api/names.ts';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { clockToleranceMs } from '../../api/removal-consent.ts';
import { consentLifetimeMs } from '../../api/removals.ts';
import type { RemovalApproval } from '../../plan/plan.ts';
import {
  allowRemovalsOf,
  type ConfigObject,
  generationOf,
  hasRemovalApproval,
  statusOf,
} from '../model/openstack-config.ts';
import { storedHoldOf } from './held-set.ts';

export type OpenConsent = NonNullable<OpenstackConfigStatus['openAllowRemovals']>;

/**
 * Returns the consent in the annotation multinic.io/allow-removals, with the NICs held before the consent's first sync;
 * undefined: none, used up, over or refused. A value set before the first sync in this generation is no consent: the
 * user does not know the held removals yet.
 */
export function consentOf(object: ConfigObject, now: Date): RemovalApproval | undefined {
  const open = openConsent(object, now);
  if (!open?.value || consentRefusalOf(object, now) !== undefined) return undefined;
  const { value, nics, nodes } = open;
  return {
    value,
    digests: storedHoldOf(object).digests,
    isStored: nics !== undefined && nodes !== undefined,
  };
}

/** Returns the open consent for the status; without `nics` and `nodes` no sync has counted removals yet. */
export function openConsent(object: ConfigObject, now: Date): OpenConsent | undefined {
  if (!hasRemovalApproval(object) || isOfLaterEdit(object)) return undefined;
  const value = allowRemovalsOf(object);
  const { openAllowRemovals: before } = statusOf(object);
  if (before?.value !== value) return { value, since: rfc3339(now), until: endOf(now) };
  const until = before.until ?? endOf(new Date(before.since ?? now));
  return now.getTime() < Date.parse(until) ? { ...before, until } : undefined;
}

/**
 * Returns why the operator refuses an open consent; undefined: accepted, or none. A value in RFC 3339 is the consent's
 * time, and must fit to first sync and hold: a backup or a repository may contain an earlier consent.
 */
export function consentRefusalOf(object: ConfigObject, now: Date): string | undefined {
  const open = openConsent(object, now);
  const given = Date.parse(time.safeParse(open?.value).data ?? '');
  if (open === undefined || Number.isNaN(given)) return undefined;
  const why = flawOf(given, Date.parse(open.since ?? rfc3339(now)), statusOf(object).heldRemovals);
  if (why === undefined) return undefined;
  return `the consent of ${open.value} ${why}, so no held removal starts; set the annotation ${annotations.allowRemovals} to the present time`;
}

const time = z.iso.datetime({ offset: true });

function flawOf(
  given: number,
  since: number,
  held: OpenstackConfigStatus['heldRemovals'],
): string | undefined {
  if (since - given > consentLifetimeMs) return 'is older than an hour';
  if (given - since > clockToleranceMs) {
    return `is more than ${counted(clockToleranceMs / 60_000, 'minute')} in the future`;
  }
  const isEarly = Date.parse(held?.at ?? '') - given > clockToleranceMs;
  return isEarly ? `is older than the hold of ${held?.at}` : undefined;
}

/** True if no sync for the present generation has written the status. */
function isOfLaterEdit(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== generationOf(object);
}

function endOf(since: Date): string {
  return rfc3339(new Date(since.getTime() + consentLifetimeMs));
}
