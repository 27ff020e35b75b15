import { rfc3339 } from '../api/condition.ts';
import type { HttpServer } from '../http/app.ts';
import type { Reflector } from '../kube/cache/reflector.ts';
import type { Clock } from '../time/clock.ts';
import type { Runner } from './jobs/runner.ts';

export interface HealthSources {
  readonly clock: Clock;
  /** Number of objects whose status matches the current spec. */
  readonly processed: () => number;
  readonly reflector: Pick<Reflector, 'state'>;
  readonly runner: Pick<Runner, 'open'>;
  /** Time when the controller last reconciled an object; undefined: never. */
  readonly lastProcessed: () => Date | undefined;
}

/** Returns the details for /healthz, with the field names that the legacy controller serves. */
export function createHealthDetails({
  clock,
  processed,
  reflector,
  runner,
  lastProcessed,
}: HealthSources) {
  const startedAt = clock.monotonicMs();
  return () => {
    const last = lastProcessed();
    return {
      uptime: goDuration(clock.monotonicMs() - startedAt),
      processed_configs: processed(),
      active_jobs: runner.open().length,
      crd_watcher_status: reflector.state === 'watching' ? 'running' : reflector.state,
      last_crd_processed: last ? rfc3339(last) : '',
    };
  };
}

/** Formats a duration as Go does, in whole seconds: `2h15m30s`. */
export function goDuration(ms: number): string {
  const total = Math.floor(ms / 1000);
  const [hours, minutes, seconds] = [
    Math.floor(total / 3600),
    Math.floor(total / 60) % 60,
    total % 60,
  ];
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** Adds the details to the /healthz response; `status` is `healthy` or `unhealthy`. */
export function describeHealth(app: HttpServer, details: () => object): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (request.routeOptions.url !== '/healthz') return payload;
    const status = reply.statusCode === 200 ? 'healthy' : 'unhealthy';
    return { ...(payload as object), status, ...details() };
  });
}
