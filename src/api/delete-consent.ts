import { annotations } from './names.ts';

/**
 * Tolerance of a consent. Clocks of users and of the API server differ, by hours at times. An older consent was given for an
 * earlier deletion; one from the future was not written for this deletion either.
 */
const holdsMs = 24 * 3_600_000;

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * True if the consent carries a readable time from at most `withinMs` before the deletion until a day after `now`: users
 * also consent days after the deletion, when they find it held.
 */
export function consentsTo(
  { annotations: noted }: Metadata,
  deletedAt: Date,
  now: Date,
  withinMs = holdsMs,
): boolean {
  const given = noted?.[annotations.deleteConsent];
  if (given === undefined) return false;
  const givenMs = Date.parse(given.replace(/!$/, ''));
  return givenMs >= deletedAt.getTime() - withinMs && givenMs <= now.getTime() + holdsMs;
}

/** Whether the consent ends with `!`: the deletion does not wait for a Node that is missing. */
export function endsWaitForNode({ annotations: noted }: Metadata): boolean {
  return noted?.[annotations.deleteConsent]?.endsWith('!') ?? false;
}
