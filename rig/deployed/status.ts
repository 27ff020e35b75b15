import type { NodeConfig } from './node-config.ts';

export type Status = Readonly<Record<string, unknown>>;

/** What the deployed agent leaves in its termination message, as far as the controller reads it. */
export interface Summary {
  readonly failures?: readonly Failure[] | null;
  readonly results?:
    | readonly { readonly id: number; readonly mac: string; readonly name: string }[]
    | null;
}

interface Failure {
  readonly id: number;
  readonly mac: string;
  readonly reason: string;
}

/** A condition as it writes them: no message, no time, and the only one. */
function condition(type: string, status: 'True' | 'False', reason: string) {
  return [{ type, status, reason }];
}

/** Written before there is a Job. */
export function started(config: NodeConfig, job: string, specChanged: boolean): Status {
  const reason = specChanged ? 'SpecChanged' : 'JobScheduled';
  return {
    state: 'InProgress',
    observedGeneration: config.metadata.generation ?? 0,
    lastJobName: job,
    conditions: condition('InProgress', 'True', reason),
    interfaceStatuses: entriesOf(config, () => ({ status: 'InProgress', reason })),
  };
}

/** Silence is success, and one failure of several makes the whole object fail. */
export function ofResult(
  config: NodeConfig,
  ended: 'Configured' | 'Failed',
  summary: Summary | undefined,
): Status {
  const failures = summary?.failures ?? [];
  if (ended === 'Configured' && failures.length === 0) {
    return {
      state: 'Configured',
      conditions: condition('Ready', 'True', 'JobSucceeded'),
      interfaceStatuses: entriesOf(config, () => ({
        status: 'Configured',
        reason: 'JobSucceeded',
      })),
    };
  }
  const partly = failures.length > 0 && failures.length < (config.spec.interfaces?.length ?? 0);
  const reason = partly || ended === 'Configured' ? 'JobFailedPartial' : 'JobFailed';
  return {
    state: 'Failed',
    conditions: condition('Ready', 'False', reason),
    interfaceStatuses: entriesOf(config, (mac) => {
      const failure = failures.find((one) => one.mac.toLowerCase() === mac.toLowerCase());
      if (!failure && failures.length > 0)
        return { status: 'Configured', reason: 'JobPartialSuccess' };
      return { status: 'Failed', reason, message: failure?.reason ?? '' };
    }),
  };
}

/** Names are positions, whatever the NIC is called. */
function entriesOf({ spec }: NodeConfig, of: (mac: string) => Status): Status[] {
  const lastUpdated = new Date().toISOString();
  return (spec.interfaces ?? []).map((entry, i) => ({
    name: `multinic${i}`,
    interfaceIndex: i,
    id: entry.id ?? i,
    macAddress: entry.macAddress.toLowerCase(),
    address: entry.address,
    cidr: entry.cidr,
    mtu: entry.mtu,
    lastUpdated,
    ...of(entry.macAddress),
  }));
}
