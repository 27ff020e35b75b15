import { annotations } from './names.ts';

/**
 * Tolerance (24 h) for a consent's time: clocks of users and API servers may differ by hours. An older consent was
 * for an earlier deletion; a consent from the future was not for this deletion, either.
 */
const toleranceMs = 24 * 3_600_000;

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * True if the consent's time lies between `withinMs` before the deletion and one day after `now`. Users may also
 * consent days after the deletion, when they notice that the object is held.
 */
export function consentsTo(
  { annotations: noted }: Metadata,
  deletedAt: Date,
  now: Date,
  withinMs = toleranceMs,
): boolean {
  const given = noted?.[annotations.deleteConsent];
  if (given === undefined) return false;
  const givenMs = Date.parse(given.replace(/!$/, ''));
  return givenMs >= deletedAt.getTime() - withinMs && givenMs <= now.getTime() + toleranceMs;
}

/** True if the consent ends with `!`: the deletion does not wait for a missing Node. */
export function endsWaitForNode({ annotations: noted }: Metadata): boolean {
  return noted?.[annotations.deleteConsent]?.endsWith('!') ?? false;
}
