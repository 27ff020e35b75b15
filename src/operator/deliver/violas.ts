import { hash } from 'node:crypto';
import { KeptWhileUsed } from '../../openstack/kept-while-used.ts';
import type { Logger } from '../../process/log.ts';
import type { CaBundle } from '../../requests/ca-bundle.ts';
import { type Caller, createCaller } from '../../requests/caller.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { createTransport } from '../../requests/transport.ts';
import type { Clock, Random } from '../../time/clock.ts';
import type { Endpoint } from '../resolve/endpoints.ts';
import { longestTimeoutMs } from '../resolve/fields.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';
import { createPageMemory } from './page-reader.ts';
import type { TokenSource } from './token-source.ts';
import { refusal } from './viola-answer.ts';
import { createViolaClient, type ViolaClient } from './viola-client.ts';

/** Connections to every Viola that OpenstackConfigs name. */
export interface Violas extends AsyncDisposable {
  /** Throws PolicyDenied when the operator's token would go to a place that only the CR vouches for. */
  of(endpoint: Endpoint, providerId: string): Promise<ViolaClient>;
}

interface ViolaSettings extends Pick<OperatorSettings, 'violaTimeout' | 'violaInsecureTls'> {
  /** undefined = no token is sent. */
  readonly token: TokenSource | undefined;
  readonly authorities: CaBundle;
}

interface ViolasDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** See createTransport. */
  readonly isTrusted?: (url: URL) => boolean;
}

/** Business clusters come and go. */
const idleMs = 2 * 3_600_000;

/** Each business cluster has connections and a circuit breaker of its own: one that hangs holds up no other. */
export function createViolas(settings: ViolaSettings, deps: ViolasDeps): Violas {
  const { clock, random, log, isTrusted } = deps;
  const { violaInsecureTls: insecure, token } = settings;
  const timeoutMs = Math.min(settings.violaTimeout, longestTimeoutMs);
  const transport = createTransport({ clock, ...(isTrusted && { isTrusted }) });
  const pages = createPageMemory();
  const callers = new KeptWhileUsed<Caller>({ clock, idleMs });

  async function callerOf(endpoint: string, providerId: string): Promise<Caller> {
    const ca = await settings.authorities().catch(asStep);
    const lane = `${endpoint} ${providerId}`;
    return callers.get(`${lane} ${hash('sha256', ca ?? '')}`, () =>
      createCaller({
        transport,
        clock,
        random,
        log: log.child({ endpoint, providerId }),
        tls: { insecure, ...(ca === undefined ? {} : { ca }) },
        lane,
        timeoutMs,
        failureOf: (_call, answer, now) => refusal(answer, now),
      }),
    );
  }

  return {
    async of({ field, url, trusted }, providerId) {
      if (!trusted && token !== undefined) {
        const message = `${field}: "${url}" is not in the operator's ALLOWED_ENDPOINTS, so the operator's Viola token is not sent there; allow it, or leave the field out`;
        throw new StepFailure({ reason: 'PolicyDenied', message });
      }
      const caller = await callerOf(url, providerId);
      return createViolaClient({ caller, endpoint: url, providerId, token, clock, pages });
    },
    [Symbol.asyncDispose]: async () => transport[Symbol.asyncDispose](),
  };
}

/** As long as nobody knows whom to believe, nothing is asked. */
function asStep(error: unknown): never {
  if (!isRequestError(error)) throw error;
  const { message } = error;
  throw new StepFailure({ reason: 'ViolaPostError', message }, { cause: error });
}
