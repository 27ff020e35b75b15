import { randomBytes } from 'node:crypto';
import { rfc3339 } from '../../api/condition.ts';
import { annotations, ownGrantsKey } from '../../api/names.ts';
import { changed } from '../../certificates/certificate-keeper.ts';
import { type Content, type ReadSecret, SecretError } from '../../certificates/owned-secret.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import type { OperatorMetrics } from '../metrics/metrics.ts';
import { grantsText, hashesIn } from './grants.ts';
import { type AccessSecrets, kept } from './kept-secret.ts';
import {
  GrantsSeen,
  type HeldTokens,
  planTokens,
  type TokenStep,
  tokenInUse,
} from './token-plan.ts';

export interface TokensDeps {
  readonly secrets: AccessSecrets;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
}

/** More writes than are ever needed. */
const mostSteps = 6;

/** A token that nobody can guess. */
function makeToken(): string {
  return randomBytes(32).toString('hex');
}

/** Keeps the operator's token for Viola, and its grant where Viola reads it. */
export function createTokenKeeper({ secrets, clock, log, metrics }: TokensDeps) {
  let seen = new GrantsSeen();
  let inUse: string | undefined;
  let remembers = false;
  const grantedForMs = (hash: string) => seen.forMs(hash, clock.monotonicMs());

  interface Held {
    readonly token: ReadSecret;
    readonly grants: ReadSecret;
  }

  async function write(step: TokenStep, held: Held, signal: AbortSignal): Promise<Held> {
    const which = kept[step.write];
    log.info({ name: which.name, why: step.why }, 'writing a Secret of the access to Viola');
    const written = await secrets.write(which, held[step.write], contentOf(step), signal);
    return { ...held, [step.write]: written };
  }

  function tell(dueMs: number): void {
    const what = { what: 'token' };
    metrics.set('multinic_viola_access_renewal_timestamp_seconds', what, dueMs / 1000);
  }

  return {
    /** Looks once, and writes until nothing is to be written. Throws `SecretTrouble`; the token in use stays then. */
    async round(signal: AbortSignal): Promise<void> {
      let held: Held = {
        token: await secrets.read(kept.token, signal),
        grants: await secrets.read(kept.grants, signal),
      };
      for (let steps = 0; ; steps++) {
        const tokens = heldTokens(held.token, held.grants);
        seen.look(tokens.granted, clock.monotonicMs());
        inUse = tokenInUse(tokens, { inUse: remembers ? inUse : undefined, grantedForMs });
        remembers = true;
        const memory = { inUse, grantedForMs };
        const { step, dueMs } = planTokens(tokens, clock.now().getTime(), memory);
        if (!step) return tell(dueMs);
        if (steps === mostSteps) throw new SecretError(kept.token.name, changed);
        held = await write(step, held, signal);
      }
    },
    /**
     * Whoever leads again does not know what was granted while somebody else led. It goes on with the token that it has
     * until it has read the Secrets, and then forgets it: it may have been withdrawn.
     */
    lead(): void {
      seen = new GrantsSeen();
      remembers = false;
    },
    /** The token that Viola is asked with; undefined as long as there is none that Viola can know. */
    get inUse(): string | undefined {
      return inUse;
    },
  };
}

function contentOf(step: TokenStep): Content {
  if (step.write === 'grants') return { data: { [ownGrantsKey]: grantsText(step.hashes) } };
  const { token = makeToken(), announces, sinceMs } = step;
  return {
    data: { token, ...(announces ? { next: makeToken() } : {}) },
    annotations: { [annotations.tokenSince]: rfc3339(new Date(sinceMs)) },
  };
}

export function heldTokens(
  { data, annotations: noted }: ReadSecret,
  grants: ReadSecret,
): HeldTokens {
  const token = usable(data['token']);
  const next = usable(data['next']);
  const text = grants.data[ownGrantsKey] ?? '';
  const sinceMs = Date.parse(noted[annotations.tokenSince] ?? '');
  return {
    token,
    next: next === token ? undefined : next,
    sinceMs: Number.isNaN(sinceMs) ? undefined : sinceMs,
    grants: text,
    granted: hashesIn(text),
  };
}

/** What may stand in a header; a token that somebody put there is as good as one of ours. */
function usable(text = ''): string | undefined {
  return /^[\x21-\x7e]{16,512}$/.test(text) ? text : undefined;
}
