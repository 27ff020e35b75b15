import { readFileSync } from 'node:fs';
import type { Effect } from '../../api/effects.ts';
import type { JobRequest } from '../../api/job.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import type { Clock } from '../../time/clock.ts';
import type { Ip } from '../ip-session.ts';
import { type HostView, viewOf } from '../observe/host.ts';
import type { HostState } from '../state.ts';
import type { Disk } from './disk.ts';
import type { Kernel } from './kernel.ts';
import { type Run, StateFile } from './memory.ts';

/** What changing a host takes. */
export interface Workshop {
  readonly view: HostView;
  readonly kernel: Kernel;
  readonly disk: Disk;
  readonly stateFile: StateFile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly run: Run;
  /** Addresses of the Node object. */
  readonly protectedAddresses: readonly string[];
  /** MACs of the NICs that may be worked on; everything else on the host is the node's own. */
  readonly macs: ReadonlySet<string>;
}

export interface Tools {
  readonly clock: Clock;
  readonly log: Logger;
  readonly perform: Perform<Effect>;
  readonly ip: Ip;
}

/** The workshop for one run on the host under this directory, whose state.json says `state`. */
export function openWorkshop(
  hostRoot: string,
  { uid, generation, protectedAddresses }: JobRequest,
  state: HostState,
  macs: ReadonlySet<string>,
  { clock, log, perform, ip }: Tools,
): Workshop {
  const view = viewOf(hostRoot, ip);
  const disk = { hostRoot, perform };
  return {
    view,
    kernel: { ip, sysctls: view.sysctls, perform },
    disk,
    stateFile: new StateFile(state, disk),
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
