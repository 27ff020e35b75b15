import { annotations } from './names.ts';

/**
 * How much older than the deletion a consent may be. The clocks of whoever agrees and of the API server differ, by hours at
 * times; what is older was meant for a deletion that never came to be, and says nothing of this one.
 */
const holdsMs = 24 * 3_600_000;

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Whether an object says that its deletion, at this time, is meant; a consent without a time that can be read always does. */
export function consentsTo(
  { annotations: noted }: Metadata,
  at: Date,
  withinMs = holdsMs,
): boolean {
  const given = noted?.[annotations.deleteConsent];
  if (given === undefined) return false;
  const givenMs = Date.parse(given.replace(/!$/, ''));
  return Number.isNaN(givenMs) || givenMs >= at.getTime() - withinMs;
}

/** Whether the consent ends with `!`: the deletion does not wait for a Node that is missing. */
export function endsWaitForNode({ annotations: noted }: Metadata): boolean {
  return noted?.[annotations.deleteConsent]?.endsWith('!') ?? false;
}
