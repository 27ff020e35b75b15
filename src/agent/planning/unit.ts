import { type HostState, type NicRecord, withNic, withoutNic } from '../state.ts';
import type { DesiredNic } from './desired.ts';
import type { Change } from './diff.ts';
import type { NicState } from './nic-state.ts';
import type { KnownNic } from './present-state.ts';
import type { Refusal } from './refuse/refusal.ts';

/** Which NIC of the request, or of state.json, something is about. */
export interface Target {
  readonly mac: string;
  /** Index the request gives it; for a removal the one it has. */
  readonly index: number;
  readonly portId?: string;
}

/** One file of a NIC: null where there is none. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** False when the file is as it should be. */
  readonly changed: boolean;
}

/** All that happens to one NIC: it is done as a whole or not at all. */
export interface Unit {
  readonly action: 'apply' | 'remove';
  readonly target: Target;
  /** Index the NIC has here; names, tables and files follow it. */
  readonly index: number;
  readonly nic: KnownNic;
  readonly before: NicState;
  readonly after: NicState;
  readonly change: Change;
  /** The first one holds the addresses; once it is as it shall be, the change is done. */
  readonly files: readonly [FileChange, ...FileChange[]];
  /** What the files were rendered from. */
  readonly desired?: DesiredNic;
  /** What state.json says of the NIC afterwards; nothing when it is removed. */
  readonly record?: NicRecord;
}

export interface RefusedNic {
  readonly target: Target;
  /** Name of its link now; empty when there is none. */
  readonly name: string;
  readonly refusal: Refusal;
}

export interface Plan {
  readonly units: readonly Unit[];
  readonly refused: readonly RefusedNic[];
}

/** Whether the NIC is as it shall be already. */
export function isDone({ change, files }: Unit): boolean {
  const untouched = change.sysctls.length + change.operations.length === 0 && !change.eviction;
  return untouched && files.every((file) => !file.changed);
}

/** What state.json says once the unit is done. */
export function stateAfter(state: HostState, { record, nic }: Unit): HostState {
  return record ? withNic(state, record) : withoutNic(state, nic.mac);
}
