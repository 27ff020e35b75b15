import type { metricTable } from '../api/metrics.ts';
import type { Reflector, ReflectorOptions } from '../kube/cache/reflector.ts';
import type { RequestSample } from '../kube/client/transport.ts';
import type { LeaseOptions } from '../kube/lease/lease.ts';
import type { Controller, ReconcileResult } from '../kube/reconcile/controller.ts';
import type { QueueObserver } from '../kube/reconcile/queue.ts';
import type { Metrics } from '../process/metrics.ts';

// Metrics like those in controller-runtime, under our names. src/kube has no metrics: callbacks report, these
// functions count.

type PartMetrics = Metrics<typeof metricTable>;

/** Counts API server requests. */
export function countKubeRequests(metrics: PartMetrics): (sample: RequestSample) => void {
  return ({ verb, status, durationMs }) => {
    metrics.count('multinic_kube_requests_total', { verb, status: String(status) });
    metrics.observe('multinic_kube_request_duration_seconds', { verb }, durationMs / 1000);
  };
}

/** Counts a controller's finished reconciles; `status`: state of the object after a reconcile without error. */
export function countResult(
  metrics: PartMetrics,
  controller: string,
  { error, durationMs }: Pick<ReconcileResult, 'error' | 'durationMs'>,
  status: string,
): void {
  const isSuccess = error === undefined;
  metrics.count('multinic_reconcile_total', {
    controller,
    result: isSuccess ? 'success' : 'error',
    status: isSuccess ? status : 'reconcile_error',
  });
  metrics.observe('multinic_reconcile_duration_seconds', { controller }, durationMs / 1000);
}

/** Counts a controller's queue operations. */
export function countWork(metrics: PartMetrics, controller: string): QueueObserver {
  const labels = { controller };
  return {
    added: () => metrics.count('multinic_queue_adds_total', labels),
    retried: () => metrics.count('multinic_queue_retries_total', labels),
    taken: (waitedMs) => metrics.observe('multinic_queue_latency_seconds', labels, waitedMs / 1000),
  };
}

/** Samples a controller's queue at every scrape. */
export function sampleWork(
  metrics: PartMetrics,
  controller: string,
  { load }: Pick<Controller, 'load'>,
): void {
  const labels = { controller };
  metrics.sample('multinic_queue_depth', labels, () => load().depth);
  metrics.sample('multinic_active_workers', labels, () => load().active);
  metrics.sample('multinic_unfinished_work_seconds', labels, () => load().unfinishedMs / 1000);
  metrics.sample('multinic_longest_running_seconds', labels, () => load().longestMs / 1000);
}

/** Counts lists and watches per kind (or reflector name). */
export function countSteps(
  metrics: PartMetrics,
  kind: string,
): NonNullable<ReflectorOptions<never>['onStep']> {
  return ({ what, failed }) =>
    metrics.count('multinic_reflector_steps_total', {
      kind,
      what,
      result: failed ? 'error' : 'success',
    });
}

/** Samples the time without an API server response, per kind, at every scrape; a stopped watch has no value. */
export function sampleSilence(
  metrics: PartMetrics,
  reflector: Pick<Reflector, 'name' | 'silentMs' | 'state'>,
): void {
  const { name: kind } = reflector;
  metrics.sample('multinic_reflector_silence_seconds', { kind }, () => {
    const { state, silentMs } = reflector;
    return state === 'stopped' || silentMs === undefined ? undefined : silentMs / 1000;
  });
}

/** Measures lease renewal durations. */
export function timeRenewals(
  metrics: PartMetrics,
  lease: string,
): NonNullable<LeaseOptions['onRenewal']> {
  return ({ durationMs, error }) =>
    metrics.observe(
      'multinic_lease_renewal_duration_seconds',
      { lease, result: error === undefined ? 'success' : 'error' },
      durationMs / 1000,
    );
}
