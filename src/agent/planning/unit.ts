import { dirname } from 'node:path';
import { interfaceName } from '../../api/names.ts';
import type { RenderedFile, RenderedNic } from '../backends/backend.ts';
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { type AgentState, type NicRecord, stateAfterDetach, withNic } from '../state.ts';
import type { DesiredNic } from './desired.ts';
import type { NicState, RecordedNic } from './nic-state.ts';
import { batchLine, type Change } from './operation.ts';
import type { Refusal } from './refusals.ts';
import { settingName } from './settings.ts';

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
  /** Permission bits of what is written. */
  readonly mode: number;
  /** False when the file is as it should be. */
  readonly changed: boolean;
}

/** What happens to the files of one NIC. Its addresses begin and end with one of them. */
export interface FileChanges {
  /**
   * Stand in for the others while more than one file that a boot goes by is replaced, and are gone in the end. The change is
   * done once the last of them is there.
   */
  readonly interim?: readonly FileChange[];
  /** Written first: they name the NIC and set it up, without an address. */
  readonly companions: readonly FileChange[];
  /** Once it is as it shall be, the change is done. */
  readonly commit: FileChange;
  /** Removed last: files of earlier generations, and of a NIC that leaves what it had beside its addresses. */
  readonly obsolete: readonly FileChange[];
}

/** All of them, in their order. */
export function inOrder({ interim = [], ...files }: FileChanges): readonly FileChange[] {
  return [...interim, ...lasting(files)];
}

/** Those that stay, or leave for good. */
export function lasting({ companions, commit, obsolete }: FileChanges): readonly FileChange[] {
  return [...companions, commit, ...obsolete];
}

/** All that happens to one NIC: it is done as a whole or not at all. */
export interface Unit {
  readonly action: 'apply' | 'remove';
  readonly target: Target;
  /** Index the NIC has here; names, tables and files follow it. */
  readonly index: number;
  readonly nic: RecordedNic;
  readonly before: NicState;
  readonly after: NicState;
  readonly change: Change;
  readonly files: FileChanges;
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
  return untouched && inOrder(files).every((file) => !file.changed);
}

/** What state.json says once the unit is done. */
export function stateAfter(state: AgentState, { record, nic }: Unit): AgentState {
  return record ? withNic(state, record) : stateAfterDetach(state, nic.mac);
}

/** A plan for people: what happens to each NIC, in order, in the words of `ip`. */
export function planText({ units, refused }: Plan): string {
  const nics = [
    ...units.map(unitText),
    ...refused.map(({ target, refusal }) => {
      return `${interfaceName(target.index)} ${target.mac}: ${refusal.reason}, ${refusal.message}\n`;
    }),
  ];
  return nics.length === 0 ? 'nothing to do\n' : nics.join('');
}

function unitText(unit: Unit): string {
  const { action, index, nic, before } = unit;
  const head = `${interfaceName(index)} ${nic.mac}`;
  if (isDone(unit)) return `${head}: as it shall be\n`;
  const from = before.link ? ` (now ${before.link.name})` : ' (not on the host)';
  return `${head}${from}: ${action}\n${unitLines(unit)
    .map((line) => `  ${line}\n`)
    .join('')}`;
}

/** What happens to one NIC, a line each: of files that stand in for others only that one goes that had been left. */
export function unitLines({ change, files }: Pick<Unit, 'change' | 'files'>): string[] {
  const { sysctls, eviction, operations } = change;
  const left = (files.interim ?? [])
    .filter(({ before }) => before !== null)
    .map((file) => ({ ...file, after: null }));
  return [
    ...sysctls.map(({ dev, key, value }) => `write ${settingName(dev, key)} = ${value}`),
    ...[...(eviction ? [eviction] : []), ...operations].map(
      (operation) => `ip ${batchLine(operation)}`,
    ),
    ...[...lasting(files), ...left].filter(({ changed }) => changed).map(fileText),
  ];
}

function fileText({ path, before, after }: FileChange): string {
  if (after === null) return `remove ${path}`;
  return `${before === null ? 'create' : 'replace'} ${path}`;
}

/**
 * Changes of files that leave a NIC with exactly these; those of earlier generations go. `taken` are the paths that other
 * NICs of the same plan write to.
 */
export function writeChanges(
  host: Snapshot,
  mac: string,
  { companions, main, interim = [] }: RenderedNic,
  taken: ReadonlySet<string>,
): FileChanges {
  const written = [...companions, main].map((file) => changeTo(host, file));
  const paths = new Set([...taken, ...written.map(({ path }) => path)]);
  const obsolete = ownFiles(host, mac)
    .filter(({ path }) => !paths.has(path))
    .map(removal);
  const files = { ...committed(written), obsolete };
  if (interim.length === 0 || isReplacedAtOnce(files, main)) return files;
  const standIns = interim.map((file) => ({ ...changeTo(host, file), changed: true }));
  const names = new Set(standIns.map(({ path }) => path));
  return {
    ...files,
    obsolete: obsolete.filter(({ path }) => !names.has(path)),
    interim: standIns,
  };
}

/** Whether a boot goes by the old files or by the new ones, whenever it comes: one is replaced, or there were none. */
function isReplacedAtOnce(files: FileChanges, main: RenderedFile): boolean {
  const replaced = lasting(files).filter(
    ({ changed, path }) => changed && dirname(path) === dirname(main.path),
  );
  return replaced.length < 2 || replaced.every(({ before }) => before === null);
}

/** The last one that changes decides; of files that are all as they shall be, the one with the addresses. */
function committed(written: readonly FileChange[]): Pick<FileChanges, 'companions' | 'commit'> {
  const at = written.findLastIndex(({ changed }) => changed);
  const commit = written.at(at) as FileChange;
  return { companions: written.filter((file) => file !== commit), commit };
}

function changeTo(host: Snapshot, { path, text, mode }: RenderedFile): FileChange {
  const there = host.files.find((file) => file.path === path);
  const changed = there?.text !== text || there.mode !== mode;
  return { path, before: there?.text ?? null, after: text, mode, changed };
}

/** Changes of files that leave a NIC with none; `path` stands for its file when there is none. */
export function removeChanges(host: Snapshot, mac: string, path: string): FileChanges {
  const files = ownFiles(host, mac).toSorted(
    (a, b) => Number(b.path === path) - Number(a.path === path),
  );
  const [commit, ...obsolete] = files.map(removal);
  const none = { path, before: null, after: null, mode: 0, changed: false };
  return { companions: [], commit: commit ?? none, obsolete };
}

function ownFiles(host: Snapshot, mac: string): ConfigFile[] {
  return host.files.filter(({ own }) => own?.mac === mac);
}

function removal({ path, text, mode }: ConfigFile): FileChange {
  return { path, before: text, after: null, mode, changed: true };
}
