import { grantsText, hashOf } from './grants.ts';

const minuteMs = 60_000;

/** A token is used for so long. */
export const tokenLifeMs = 30 * 24 * 60 * minuteMs;
/** Until every Viola knows a token: a kubelet brings a changed Secret into its Pods within a minute or two. */
export const settledMs = 10 * minuteMs;
/** So long after another one is used the old token goes on being known. */
export const withdrawnMs = 20 * minuteMs;
/** Times of another leader may be ahead of ours. */
const skewMs = 5 * minuteMs;
/** Old tokens that are still known; whoever damages the Secret again and again must not make it grow without end. */
const mostOld = 4;

/** What the Secrets of the operator's token and of its grants hold, as far as it can be used. */
export interface StoredTokens {
  readonly token: string | undefined;
  /** What is used after it, once Viola knows it. */
  readonly next: string | undefined;
  /** Since when `token` is used. */
  readonly sinceMs: number | undefined;
  /** Text of the grants, and the hashes of the tokens in it. */
  readonly grants: string;
  readonly granted: readonly string[];
}

/** For how long a token has been seen to be granted without a break, by the clock of this process that never jumps. */
export type GrantedForMs = (hash: string) => number;

/** One write. */
export type TokenStep =
  | {
      readonly write: 'token';
      /** The one that is used from now on; undefined: a new one. */
      readonly token: string | undefined;
      readonly sinceMs: number;
      /** A new one beside it, that is used next. */
      readonly announces: boolean;
      readonly why: string;
    }
  | { readonly write: 'grants'; readonly hashes: readonly string[]; readonly why: string };

export interface TokenPlan {
  readonly step: TokenStep | undefined;
  /** When the token is to be renewed. */
  readonly dueMs: number;
}

/** What a leader knows of its own doing; whoever leads next knows nothing of it. */
export interface TokenMemory {
  /** The token that this process shows to Viola. */
  readonly inUse: string | undefined;
  readonly grantedForMs: GrantedForMs;
}

/** Decides on the next write alone, so that a stop between two writes leaves nothing half done. */
export function planTokens(held: StoredTokens, nowMs: number, memory: TokenMemory): TokenPlan {
  const { token, next, grants } = held;
  const use = { write: 'token', sinceMs: nowMs, announces: false } as const;
  if (token === undefined) {
    return { step: { ...use, token, why: 'there is no token' }, dueMs: nowMs };
  }
  const sinceMs = knownSince(held, nowMs);
  const dueMs = sinceMs === undefined ? nowMs : sinceMs + tokenLifeMs;
  const isOld = sinceMs !== undefined && nowMs >= sinceMs + withdrawnMs;
  const hashes = wantedHashes(held, memory.inUse, isOld);
  if (grants !== grantsText(hashes)) {
    const why = 'they are not those of the tokens in use';
    return { step: { write: 'grants', hashes, why }, dueMs };
  }
  if (next !== undefined) {
    const isSettled = memory.grantedForMs(hashOf(next)) >= settledMs;
    const why = `Viola has known the next token for ${settledMs / minuteMs} minutes`;
    return { step: isSettled ? { ...use, token: next, why } : undefined, dueMs };
  }
  if (nowMs < dueMs) return { step: undefined, dueMs };
  const why =
    sinceMs === undefined ? 'its age is not known' : 'the token has been used for long enough';
  return { step: { ...use, token, sinceMs: sinceMs ?? nowMs, announces: true, why }, dueMs };
}

/** Unknown also when the clock was set back, or somebody edited the time. */
function knownSince({ sinceMs }: StoredTokens, nowMs: number): number | undefined {
  return sinceMs !== undefined && sinceMs < nowMs + skewMs ? sinceMs : undefined;
}

/** Old tokens stay known for a while: an operator that has just lost its lease may still be asking. */
function wantedHashes(
  { token, next, granted }: StoredTokens,
  inUse: string | undefined,
  isOld: boolean,
): readonly string[] {
  const ours = [token, next, inUse].flatMap((one) => (one === undefined ? [] : [hashOf(one)]));
  const others = granted.filter((hash) => !ours.includes(hash)).slice(0, mostOld);
  return [...new Set([...ours, ...(isOld ? [] : others)])];
}

/**
 * The token to be shown to Viola. When somebody replaced the Secret, this process goes on with the one that it showed
 * before, until Viola knows the new one.
 */
export function tokenInUse(
  { token, granted }: StoredTokens,
  { inUse, grantedForMs }: TokenMemory,
): string | undefined {
  const isGranted = (one: string) => granted.includes(hashOf(one));
  if (token === undefined || !isGranted(token)) return inUse;
  if (inUse === undefined || !isGranted(inUse)) return token;
  return grantedForMs(hashOf(token)) >= settledMs ? token : inUse;
}

/** Remembers since when this process has seen each token granted. */
export class ObservedGrants {
  #since: ReadonlyMap<string, number> = new Map();

  look(granted: readonly string[], monotonicMs: number): void {
    this.#since = new Map(granted.map((hash) => [hash, this.#since.get(hash) ?? monotonicMs]));
  }

  forMs(hash: string, monotonicMs: number): number {
    return monotonicMs - (this.#since.get(hash) ?? monotonicMs);
  }
}
