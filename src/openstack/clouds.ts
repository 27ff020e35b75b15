import type { Clock, Random } from '../process/clock.ts';
import type { Logger } from '../process/log.ts';
import type { Cloud, CloudIdentity } from './cloud.ts';
import type { Provider, ProviderRequest } from './contrabass.ts';
import type { FailureKind, Service } from './errors.ts';

/** One HTTP request that was sent, for metrics. */
export interface RequestSample {
  readonly service: Service;
  readonly method: string;
  readonly outcome: number | FailureKind;
  readonly durationMs: number;
}

export interface CloudsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly onRequest?: (sample: RequestSample) => void;
}

export interface Clouds extends AsyncDisposable {
  /** The one Cloud of this identity; the same object for every caller. */
  get(identity: CloudIdentity): Cloud;
  /** Contrabass' answer, cached for 5 minutes and forgotten when Keystone refuses the credential in it. */
  provider(request: ProviderRequest, signal: AbortSignal): Promise<Provider>;
}

/** Everything the process keeps about clouds: connections, tokens, caches, circuit breakers. */
export function createClouds(_options: CloudsOptions): Clouds {
  throw new Error('not built yet');
}
