import * as z from 'zod';
import { jsonIn } from './json.ts';
import { annotations } from './names.ts';
import { consentLifetimeMs } from './removals.ts';

const macs = z
  .array(z.string().max(17).toLowerCase())
  .max(64)
  .describe('MAC addresses, in colon form.');

/** NICs that may leave a node with a POST, by basis. */
export const removalLists = z.object({
  proven: macs.describe('NICs that are gone in OpenStack (basis evidence).'),
  consented: macs.describe('NICs whose removal a user consented to.'),
});

export type RemovalLists = z.infer<typeof removalLists>;

/**
 * Annotation `multinic.io/removal-consent`, written by Viola. It counts for this object uid and spec only; `consented`
 * for an hour after `at`, and never for a deletion.
 */
export const removalConsent = z.object({
  uid: z.string().min(1).max(64),
  /** specHash of the spec without these NICs. */
  spec: z.string().min(1).max(128),
  /** RFC 3339. */
  at: z.iso.datetime({ offset: true }),
  ...removalLists.shape,
});

export type RemovalConsent = z.infer<typeof removalConsent>;

interface Metadata {
  readonly uid?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the consent for this object and spec at any age; undefined: none. The bare hash written by earlier versions
 * is no consent.
 */
export function removalConsentOf(
  { uid, annotations: noted }: Metadata,
  spec: string | undefined,
): RemovalConsent | undefined {
  const text = noted?.[annotations.removalConsent];
  if (text === undefined || spec === undefined) return undefined;
  const consent = removalConsent.safeParse(jsonIn(text)).data;
  return consent && consent.uid === uid && consent.spec === spec ? consent : undefined;
}

/** True while a consent given at this time may start a removal. A time from the future is no consent. */
export function isConsentOpen(at: string, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(at);
  return ageMs >= -clockToleranceMs && ageMs <= consentLifetimeMs;
}

/** Tolerance between the clocks of user, operator, Viola, controller and API server, in milliseconds. */
export const clockToleranceMs = 300_000;
