import { readFileSync } from 'node:fs';
import type { Effect } from '../../api/effects.ts';
import type { JobRequest } from '../../api/job.ts';
import type { Coded } from '../../api/nic-codes.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import type { Host } from '../observe/host.ts';
import type { Refusal } from '../planning/refusals.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { type Run, StateFile } from './memory.ts';

/** Context for an agent run; also the kernel and disk for each step. */
export interface Context extends Host {
  readonly perform: Perform<Effect>;
  readonly stateFile: StateFile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: Run;
  /** Node object addresses. */
  readonly protectedAddresses: readonly string[];
  /** MACs of NICs the run may change; all other links belong to the node. */
  readonly macs: ReadonlySet<string>;
  /** NIC states for unfinished changes, missing in state.json. */
  readonly claims?: readonly NicRecord[];
  /** NICs that stay without a request entry, possibly missing in state.json. */
  readonly blocked?: readonly NicRecord[];
  /** Kernel state before the run's first change; if the node itself loses state afterwards, the run stops. */
  readonly start?: KernelSnapshot;
  /** Returns why changes must be undone: the node lost a connection; absent: nothing to compare. */
  readonly connectivity?: () => Promise<(Refusal & Coded) | undefined>;
  /** Latest kernel snapshot; absent before the run's first change. */
  readonly latest?: KernelSnapshot;
}

export interface Tools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly perform: Perform<Effect>;
}

/** Returns the context for a run on a host with state.json content `state`. */
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

/** Returns the kernel's boot id; a container sees its host's. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}
