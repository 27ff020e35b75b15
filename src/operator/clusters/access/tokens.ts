import { randomBytes } from 'node:crypto';
import { rfc3339 } from '../../../api/condition.ts';
import { annotations, ownGrantsKey } from '../../../api/names.ts';
import { changed } from '../../../certificates/certificate-keeper.ts';
import { type Content, type ReadSecret, SecretError } from '../../../certificates/owned-secret.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { type AccessSecrets, managedSecrets } from './access-secrets.ts';
import { grantsText, hashesIn } from './grants.ts';
import {
  ObservedGrants,
  planTokens,
  type StoredTokens,
  type TokenStep,
  tokenInUse,
} from './token-plan.ts';

export interface TokensDeps {
  readonly secrets: AccessSecrets;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: OperatorMetrics;
}

/** Most writes per round; a round never needs more. */
const mostSteps = 6;

/** Returns a random 256-bit token. */
function makeToken(): string {
  return randomBytes(32).toString('hex');
}

/** Creates the keeper of the operator's token for Viola and its grant. */
export function createTokenKeeper({ secrets, clock, log, metrics }: TokensDeps) {
  let observed = new ObservedGrants();
  let inUse: string | undefined;
  let remembers = false;
  const grantedForMs = (hash: string) => observed.forMs(hash, clock.monotonicMs());

  interface ReadSecrets {
    readonly token: ReadSecret;
    readonly grants: ReadSecret;
  }

  async function write(
    step: TokenStep,
    stored: ReadSecrets,
    signal: AbortSignal,
  ): Promise<ReadSecrets> {
    const which = managedSecrets[step.write];
    log.info({ name: which.name, why: step.why }, 'writing Secret for access to Viola');
    const written = await secrets.write(which, stored[step.write], contentOf(step), signal);
    return { ...stored, [step.write]: written };
  }

  function exportDue(dueMs: number): void {
    const what = { what: 'token' };
    metrics.set('multinic_viola_access_renewal_timestamp_seconds', what, dueMs / 1000);
  }

  return {
    /** Runs a round: writes until nothing is due. Throws SecretError; the token in use then stays. */
    async round(signal: AbortSignal): Promise<void> {
      let stored: ReadSecrets = {
        token: await secrets.read(managedSecrets.token, signal),
        grants: await secrets.read(managedSecrets.grants, signal),
      };
      for (let steps = 0; ; steps++) {
        const tokens = tokensIn(stored.token, stored.grants);
        observed.look(tokens.granted, clock.monotonicMs());
        inUse = tokenInUse(tokens, { inUse: remembers ? inUse : undefined, grantedForMs });
        remembers = true;
        const memory = { inUse, grantedForMs };
        const { step, dueMs } = planTokens(tokens, clock.now().getTime(), memory);
        if (!step) return exportDue(dueMs);
        if (steps === mostSteps) throw new SecretError(managedSecrets.token.name, changed);
        stored = await write(step, stored, signal);
      }
    },
    /**
     * Starts a term. Grants during another leader's term are unknown. The token stays in use until the next round has
     * read the Secrets, and is then forgotten, because another leader may have withdrawn the token.
     */
    lead(): void {
      observed = new ObservedGrants();
      remembers = false;
    },
    /** Token for requests to Viola; undefined: no token that Viola can know. */
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

function tokensIn(
  { data, annotations: ownAnnotations }: ReadSecret,
  grants: ReadSecret,
): StoredTokens {
  const token = usable(data['token']);
  const next = usable(data['next']);
  const text = grants.data[ownGrantsKey] ?? '';
  const sinceMs = Date.parse(ownAnnotations[annotations.tokenSince] ?? '');
  return {
    token,
    next: next === token ? undefined : next,
    sinceMs: Number.isNaN(sinceMs) ? undefined : sinceMs,
    grants: text,
    granted: hashesIn(text),
  };
}

/** Returns a token that a header may contain; a user's own token is accepted, too. */
function usable(text = ''): string | undefined {
  return /^[\x21-\x7e]{16,512}$/.test(text) ? text : undefined;
}
