import { type HoldCode, holdCodes } from './removals.ts';

/** Causes of ViolaPostError, at the beginning of the message; each has a row in the table of reasons. */
export const violaCodes = [
  'ViolaUnavailable',
  'ClusterNotRegistered',
  'TokenRefused',
  'ClusterUnreachable',
  'NodeRefused',
] as const;

export type ViolaCode = (typeof violaCodes)[number];

const codes: readonly (HoldCode | ViolaCode)[] = [...holdCodes, ...violaCodes];

/** Returns the code at the beginning of a status message; undefined: none, or from an earlier part. */
export function messageCodeOf(message: string | undefined): HoldCode | ViolaCode | undefined {
  return codes.find((code) => message?.startsWith(`${code}: `));
}

/** Returns a message with words before it; a code stays at the beginning. */
export function withWords(words: string, message: string): string {
  const code = messageCodeOf(message);
  return code === undefined
    ? `${words}${message}`
    : `${code}: ${words}${message.slice(code.length + 2)}`;
}
