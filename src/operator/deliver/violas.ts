import type { Clock } from '../../time/clock.ts';
import type { Endpoint } from '../resolve/endpoints.ts';
import type { OperatorSettings } from '../settings.ts';
import { StepFailure } from '../status/step-failure.ts';
import { createViolaClient, type ViolaClient } from './viola-client.ts';
import { createViolaTransport, type ViolaTransport } from './viola-transport.ts';

/** Connections to every Viola that OpenstackConfigs name. */
export interface Violas extends AsyncDisposable {
  /** Throws PolicyDenied when the operator's token would go to a place that only the CR vouches for. */
  of(endpoint: Endpoint, providerId: string): ViolaClient;
}

type ViolaSettings = Pick<
  OperatorSettings,
  'violaTimeout' | 'violaInsecureTls' | 'violaTokenFile'
> & { readonly violaCa: string | undefined };

/** One pool per endpoint, made when it is first used. */
export function createViolas(settings: ViolaSettings, clock: Clock): Violas {
  const transports = new Map<string, ViolaTransport>();

  function transportOf(endpoint: string): ViolaTransport {
    const known = transports.get(endpoint);
    if (known) return known;
    const made = createViolaTransport({
      endpoint,
      timeoutMs: settings.violaTimeout,
      insecure: settings.violaInsecureTls,
      ca: settings.violaCa,
      tokenFile: settings.violaTokenFile,
      clock,
    });
    transports.set(endpoint, made);
    return made;
  }

  return {
    of({ field, url, trusted }, providerId) {
      if (!trusted && settings.violaTokenFile !== undefined) {
        const message = `${field}: "${url}" is not in the operator's ALLOWED_ENDPOINTS, so the operator's Viola token is not sent there; allow it, or leave the field out`;
        throw new StepFailure({ reason: 'PolicyDenied', message });
      }
      return createViolaClient(transportOf(url), providerId);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...transports.values()].map(async (one) => one[Symbol.asyncDispose]()));
    },
  };
}
