import { randomUUID } from 'node:crypto';
import type { metricTable } from '../api/metrics.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { LeaseOptions } from '../kube/lease/lease.ts';
import type { PartContext } from '../process/part.ts';
import { timeRenewals } from './kube-metrics.ts';

export interface ElectionOptions {
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly leaseDurationMs: number;
  /** Client for the lease only, with effect names for its writes. */
  readonly client: KubeClient;
  /** Process name; the holder identity is `name_UUID`, hence a restarted process is a new holder. */
  readonly name: string;
  readonly context: Pick<
    PartContext<typeof metricTable>,
    'clock' | 'random' | 'log' | 'metrics' | 'exit'
  >;
  readonly onChange?: (isLeading: boolean) => void;
}

/** Returns lease options with logs and metrics for each state; a process that overruns its lease exits. */
export function electionOf(options: ElectionOptions): LeaseOptions {
  const { lease, leaseDurationMs, client, name, context, onChange = () => undefined } = options;
  const { clock, random, log, metrics, exit } = context;
  const identity = `${name}_${randomUUID()}`;
  const labels = { lease: lease.name };
  metrics.set('multinic_leader', labels, 0);
  return {
    ...lease,
    leaseDurationMs,
    client,
    identity,
    clock,
    random,
    onOverrun: exit,
    onRenewal: timeRenewals(metrics, lease.name),
    onChange: (state, error) => {
      onChange(state === 'leading');
      metrics.set('multinic_leader', labels, state === 'leading' ? 1 : 0);
      if (error) log.warn({ state, err: error }, 'lease');
      else log.info({ state, identity }, 'lease');
    },
  };
}
