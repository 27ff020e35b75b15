import { grantsText, hashOf } from './grants.ts';

const minuteMs = 60_000;

/** Lifetime of a token. */
const tokenLifeMs = 30 * 24 * 60 * minuteMs;
/** Wait until every Viola knows a token: a kubelet brings a changed Secret into its Pods within a minute or two. */
const settledMs = 10 * minuteMs;
/** Time for which a replaced token stays granted. */
const withdrawnMs = 20 * minuteMs;
/** Largest accepted clock difference to another leader. */
const skewMs = 5 * minuteMs;
/** Most old tokens that stay granted; repeated damage to the Secret must not grow the grants without end. */
const mostOld = 4;

/** Usable contents of the token Secret and the grants Secret. */
export interface StoredTokens {
  readonly token: string | undefined;
  /** Next token, used once Viola knows the token. */
  readonly next: string | undefined;
  /** Time from which `token` is in use. */
  readonly sinceMs: number | undefined;
  /** Grants text, and the token hashes in the text. */
  readonly grants: string;
  readonly granted: readonly string[];
}

/** Returns how long this process has observed a token's grant without a break, on its monotonic clock. */
type GrantedForMs = (hash: string) => number;

/** One write. */
export type TokenStep =
  | {
      readonly write: 'token';
      /** Token in use from now on; undefined: a new token. */
      readonly token: string | undefined;
      readonly sinceMs: number;
      /** Whether a new next token is added. */
      readonly announces: boolean;
      readonly why: string;
    }
  | { readonly write: 'grants'; readonly hashes: readonly string[]; readonly why: string };

export interface TokenPlan {
  readonly step: TokenStep | undefined;
  /** Time at which the token is renewed. */
  readonly dueMs: number;
}

/** A leader's memory; the next leader starts without memory. */
export interface TokenMemory {
  /** Token that this process shows to Viola. */
  readonly inUse: string | undefined;
  readonly grantedForMs: GrantedForMs;
}

/** Decides only the next write, so a crash between two writes leaves no inconsistent state. */
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
    const why = 'the grants differ from the tokens in use';
    return { step: { write: 'grants', hashes, why }, dueMs };
  }
  if (next !== undefined) {
    const isSettled = memory.grantedForMs(hashOf(next)) >= settledMs;
    const why = `Viola has known the next token for ${settledMs / minuteMs} minutes`;
    return { step: isSettled ? { ...use, token: next, why } : undefined, dueMs };
  }
  if (nowMs < dueMs) return { step: undefined, dueMs };
  const why =
    sinceMs === undefined ? 'the age of the token is unknown' : 'the token is due for renewal';
  return { step: { ...use, token, sinceMs: sinceMs ?? nowMs, announces: true, why }, dueMs };
}

/** Returns when the token's use began; undefined also after a clock was set back or a user edited the time. */
function knownSince({ sinceMs }: StoredTokens, nowMs: number): number | undefined {
  return sinceMs !== undefined && sinceMs < nowMs + skewMs ? sinceMs : undefined;
}

/**
 * Returns the hashes to grant. Old tokens stay granted for a while, because an operator without its lease may still
 * send requests.
 */
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
 * Returns the token to show to Viola. After a user replaced the Secret, this process shows its former token until Viola
 * knows the new token.
 */
export function tokenInUse(
  { token, granted }: StoredTokens,
  { inUse, grantedForMs }: TokenMemory,
): string | undefined {
  const isGranted = (candidate: string) => granted.includes(hashOf(candidate));
  if (token === undefined || !isGranted(token)) return inUse;
  if (inUse === undefined || !isGranted(inUse)) return token;
  return grantedForMs(hashOf(token)) >= settledMs ? token : inUse;
}

/** Stores since when this process has observed each grant. */
export class ObservedGrants {
  #since: ReadonlyMap<string, number> = new Map();

  look(granted: readonly string[], monotonicMs: number): void {
    this.#since = new Map(granted.map((hash) => [hash, this.#since.get(hash) ?? monotonicMs]));
  }

  forMs(hash: string, monotonicMs: number): number {
    return monotonicMs - (this.#since.get(hash) ?? monotonicMs);
  }
}
