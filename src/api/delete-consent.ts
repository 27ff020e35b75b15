import * as z from 'zod';
import { annotations } from './names.ts';
import type { DeleteBasis } from './node-configs-http.ts';
import { clockToleranceMs, removalConsent, removalConsentOf } from './removal-consent.ts';
import { consentLifetimeMs } from './removals.ts';

interface Metadata {
  readonly uid?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * True if the consent's time lies between `withinMs` (1 h 5 min) before the deletion and `now`, with a tolerance for
 * clocks. An older consent was for an earlier deletion. Users may also consent days after the deletion.
 */
export function consentsTo(
  metadata: Metadata,
  deletedAt: Date,
  now: Date,
  withinMs = consentLifetimeMs + clockToleranceMs,
): boolean {
  const givenMs = Date.parse(timeIn(metadata) ?? '');
  // The API server's clock, too: a controller with a slow clock stamps with the deletion time.
  const latestMs = Math.max(now.getTime(), deletedAt.getTime()) + clockToleranceMs;
  return givenMs >= deletedAt.getTime() - withinMs && givenMs <= latestMs;
}

/** True if the consent ends with `!`: the deletion does not wait for a missing Node. */
export function endsWaitForNode({ annotations: noted }: Metadata): boolean {
  return noted?.[annotations.deleteConsent]?.endsWith('!') ?? false;
}

/**
 * True if Viola stamped evidence for this deletion: both annotations have equal times, and `removal-consent` is for
 * this uid and spec. `specHash`: hash computed from the current spec; undefined: unreadable.
 */
export function isEvidence(metadata: Metadata, specHash: string | undefined): boolean {
  return isPair(metadata, removalConsentOf(metadata, specHash)?.at);
}

/**
 * Returns the deletion's basis. Evidence never becomes consent: with a different uid or spec, as after a restore or an
 * edit, the deletion is named. The same holds for a consent older than an hour.
 */
export function deletionBasis(
  metadata: Metadata,
  specHash: string | undefined,
  ...times: [deletedAt: Date, now: Date, withinMs?: number]
): DeleteBasis {
  if (!consentsTo(metadata, ...times)) return 'named';
  if (isEvidence(metadata, specHash)) return 'evidence';
  const [, now] = times;
  const isOver = now.getTime() > (deletionConsentTime(metadata) ?? 0) + consentLifetimeMs;
  return isOver || isPair(metadata, stampedAt(metadata)) ? 'named' : 'consent';
}

/** Returns the time of a consent to a deletion, in milliseconds since 1970: an agent must be queued within an hour. */
export function deletionConsentTime(metadata: Metadata): number | undefined {
  const text = timeIn(metadata);
  return text === undefined ? undefined : Date.parse(text);
}

function isPair(metadata: Metadata, at: string | undefined): boolean {
  return at !== undefined && at === timeIn(metadata);
}

/** Returns the time in `delete-consent`, without `!`. */
function timeIn({ annotations: noted }: Metadata): string | undefined {
  return noted?.[annotations.deleteConsent]?.replace(/!$/, '');
}

const stamp = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('is not JSON');
      return z.NEVER;
    }
  })
  .pipe(removalConsent.pick({ at: true }));

/** Returns the time in `removal-consent`, for any uid and spec. */
function stampedAt({ annotations: noted }: Metadata): string | undefined {
  return stamp.safeParse(noted?.[annotations.removalConsent]).data?.at;
}
