import { readFileSync } from 'node:fs';
import type { Effect } from '../../api/effects.ts';
import type { JobRequest } from '../../api/job.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import type { Host } from '../observe/host.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { type Run, StateFile } from './memory.ts';

/** What a run has on a host: it is also the kernel and the disk that steps ask for. */
export interface Context extends Host {
  readonly perform: Perform<Effect>;
  readonly stateFile: StateFile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: Run;
  /** Addresses of the Node object. */
  readonly protectedAddresses: readonly string[];
  /** MACs of the NICs that may be worked on; everything else on the host is the node's own. */
  readonly macs: ReadonlySet<string>;
  /** What is ours of NICs that are still in hand, and state.json does not say so. */
  readonly claims?: readonly NicRecord[];
  /** The host before the run changed any NIC: what the node itself has lost since then stops it. */
  readonly start?: KernelSnapshot;
  /** The latest snapshot of the kernel, if the run changed NICs since it began. */
  readonly latest?: KernelSnapshot;
}

export interface Tools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly perform: Perform<Effect>;
}

/** The context for one run on a host whose state.json says `state`. */
export function openContext(
  host: Host,
  { uid, generation, protectedAddresses }: JobRequest,
  state: AgentState,
  macs: ReadonlySet<string>,
  { clock, log, perform }: Tools,
): Context {
  return {
    ...host,
    perform,
    stateFile: new StateFile(state, { hostRoot: host.hostRoot, perform }),
    clock,
    log,
    run: { fence: { uid, generation }, bootId: bootId() },
    protectedAddresses,
    macs,
  };
}

/** Changes with every boot; a container sees that of its host. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
