import { leases, ofLeader } from '../expressions.ts';
import type { Panel, Row } from './dashboard.ts';

export type Leader = keyof typeof leases;

/** Returns the rate of a counter per second, by labels. */
export function rate(metric: string, labels: readonly string[]): string {
  return `sum by (${labels.join(', ')}) (rate(${metric}[$__rate_interval]))`;
}

/** Returns the 99 % quantile of a histogram, by labels. */
export function slowest(histogram: string, labels: readonly string[]): string {
  const [, name = '', selected = ''] = /^(\w+)(\{.*\})?$/.exec(histogram) ?? [];
  const buckets = rate(`${name}_bucket${selected}`, [...labels, 'le']);
  return `histogram_quantile(0.99, ${buckets})`;
}

export function graph(title: string, unit: Panel['unit'], ...queries: Panel['queries']): Panel {
  return { title, kind: 'graph', unit, queries };
}

export function number(title: string, expr: string, legend = ''): Panel {
  return { title, kind: 'number', unit: 'short', queries: [[expr, legend]] };
}

/** Returns the panel with the number of leaders. */
export function leading(leader: Leader): Panel {
  const about = 'Must be 1; with 0 leaders no work is done.';
  return { ...number('Leaders', `sum(multinic_leader{lease="${leases[leader]}"})`), about };
}

/** Returns the panels for reconciles and the queue. */
export function work(controller: string): Row {
  const of = `{controller="${controller}"}`;
  return {
    title: 'Work',
    panels: [
      graph('Reconciles', 'ops', [rate(`multinic_reconcile_total${of}`, ['result']), '{{result}}']),
      graph('Slowest reconciles (99 %)', 's', [
        slowest(`multinic_reconcile_duration_seconds${of}`, ['controller']),
        'reconcile',
      ]),
      graph(
        'Queue',
        'short',
        [`sum(multinic_queue_depth${of})`, 'waiting'],
        [`sum(multinic_active_workers${of})`, 'active'],
      ),
      graph(
        'Longest reconcile and wait',
        's',
        [`max(multinic_longest_running_seconds${of})`, 'longest reconcile'],
        [slowest(`multinic_queue_latency_seconds${of}`, ['controller']), 'waited (99 %)'],
      ),
    ],
  };
}

/** Returns the panels for requests to the API server. */
export function kubernetes(leader: Leader): Row {
  const lease = `{lease="${leases[leader]}"}`;
  const silence = ofLeader('multinic_reflector_silence_seconds', leader, ['kind']);
  return {
    title: 'Kubernetes API',
    panels: [
      graph('Requests', 'ops', [
        rate('multinic_kube_requests_total', ['verb', 'status']),
        '{{verb}} {{status}}',
      ]),
      graph('Slowest requests (99 %)', 's', [
        slowest('multinic_kube_request_duration_seconds', ['verb']),
        '{{verb}}',
      ]),
      graph('Slowest renewals of the lease (99 %)', 's', [
        slowest(`multinic_lease_renewal_duration_seconds${lease}`, ['result']),
        '{{result}}',
      ]),
      graph('Time since the last answer of the API server', 's', [
        `max by (kind) (${silence})`,
        '{{kind}}',
      ]),
    ],
  };
}

/** Returns the panels for CPU and memory of the processes. */
export function processes(parts: string): Row {
  const what = `multinic_build_info{part=~"${parts}"}`;
  const of = (expr: string): string =>
    `${expr} * ignoring (part, version, commit) group_right () ${what}`;
  const legend = '{{part}} {{pod}}';
  return {
    title: 'Processes',
    panels: [
      graph('Memory', 'bytes', [of('process_resident_memory_bytes'), legend]),
      graph(
        'Heap',
        'bytes',
        [of('nodejs_heap_size_used_bytes'), legend],
        [`max by (part) (multinic_heap_limit_bytes{part=~"${parts}"})`, 'limit of {{part}}'],
      ),
      graph('CPU', 'cores', [of('rate(process_cpu_seconds_total[$__rate_interval])'), legend]),
      graph('Delay of the event loop (99 %)', 's', [
        of('nodejs_eventloop_lag_p99_seconds'),
        legend,
      ]),
    ],
  };
}
