import { dirname } from 'node:path';
import { interfaceName } from '../../api/names.ts';
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { type AgentState, type NicRecord, stateAfterDetach, withNic } from '../state.ts';
import type { RenderedFile, RenderedNic } from './backend.ts';
import type { DesiredNic } from './desired.ts';
import type { NicState, RecordedNic } from './nic-state.ts';
import { batchLine, type Change } from './operation.ts';
import type { Takeover } from './ownership.ts';
import type { Refusal } from './refusals.ts';
import { settingName } from './settings.ts';
import type { Handover } from './takeover.ts';

/** Identity of a NIC in the request or in state.json. */
export interface Target {
  readonly mac: string;
  /** Requested index; for a removal, the recorded index. */
  readonly index: number;
  readonly portId?: string;
}

/** Change to one NIC file; null means absent. */
export interface FileChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Permission bits for the written file. */
  readonly mode: number;
  /** False if the file is already correct. */
  readonly changed: boolean;
  /** Set for a foreign file; absent: a file of ours. */
  readonly foreign?: 'edit' | 'undo';
}

/** File changes for one NIC. The addresses appear and disappear with a single file. */
export interface FileChanges {
  /**
   * Placeholder files during replacement of several boot files; absent in the end. The change commits once the last
   * placeholder exists.
   */
  readonly interim?: readonly FileChange[];
  /** Written first: they name and set up the NIC, without an address. */
  readonly companions: readonly FileChange[];
  /** Commit point: the change is done once this file is correct. */
  readonly commit: FileChange;
  /** Removed last: files from earlier generations, and a released NIC's files without addresses. */
  readonly obsolete: readonly FileChange[];
}

/** Returns all file changes in execution order. */
export function inOrder({ interim = [], ...files }: FileChanges): readonly FileChange[] {
  return [...interim, ...lasting(files)];
}

/** Returns permanent file changes: written or removed for good. */
export function lasting({ companions, commit, obsolete }: FileChanges): readonly FileChange[] {
  return [...companions, commit, ...obsolete];
}

/** NIC transaction: all changes to one NIC, done completely or not at all. */
export interface Unit {
  readonly action: 'apply' | 'remove';
  readonly target: Target;
  /** Index on this host; determines names, tables and files. */
  readonly index: number;
  readonly nic: RecordedNic;
  readonly before: NicState;
  readonly after: NicState;
  readonly change: Change;
  readonly files: FileChanges;
  /** Source data for the rendered files. */
  readonly desired?: DesiredNic;
  /** NIC state in state.json afterwards; absent for a complete removal. */
  readonly record?: NicRecord;
  /** Set if networkd must release the link: before an apply is verified, or after a removal. */
  readonly handover?: Handover;
  /** Result for a NIC whose link stays unchanged until the next boot. */
  readonly atBoot?: Refusal;
  /** File of a removed NIC in a missing folder: the record stays until the file can be removed. */
  readonly fileLeft?: string;
}

export interface RefusedNic {
  readonly target: Target;
  /** Current link name; empty without a link. */
  readonly name: string;
  readonly refusal: Refusal;
}

export interface Plan {
  readonly units: readonly Unit[];
  readonly refused: readonly RefusedNic[];
}

/** True if the transaction changes more than files. */
export function changesKernel({ change }: Pick<Unit, 'change'>): boolean {
  return change.sysctls.length + change.operations.length > 0 || change.eviction !== undefined;
}

/** True if the NIC is already correct, or correct as far as possible before the next boot. */
export function isDone({ action, change, files, handover }: Unit): boolean {
  const untouched = !changesKernel({ change }) && !(action === 'apply' && handover);
  return untouched && inOrder(files).every((file) => !file.changed);
}

/** Returns the state.json content after the transaction. */
export function stateAfter(state: AgentState, { record, nic }: Unit): AgentState {
  return record ? withNic(state, record) : stateAfterDetach(state, nic.mac);
}

/** Returns a human-readable plan: changes per NIC in execution order, in `ip` syntax. */
export function planText({ units, refused }: Plan): string {
  const nics = [
    ...units.map(unitText),
    ...refused.map(({ target, refusal }) => {
      return `${interfaceName(target.index)} ${target.mac}: ${refusal.reason}, ${refusal.message}\n`;
    }),
  ];
  return nics.length === 0 ? 'no changes\n' : nics.join('');
}

/** Returns a line per NIC that stays because its removal is not permitted, and per NIC that waits for such a NIC. */
export function removalHolds(plans: readonly Plan[]): string[] {
  return plans
    .flatMap(({ refused }) => refused)
    .filter(({ refusal }) => refusal.reason === 'RemovalHeld')
    .map(({ target, name, refusal }) => `${target.mac} (${name || 'no link'}): ${refusal.message}`);
}

function unitText(unit: Unit): string {
  const { action, index, nic, before } = unit;
  const head = `${interfaceName(index)} ${nic.mac}`;
  if (isDone(unit)) return `${head}: up to date\n`;
  const from = before.link ? ` (now ${before.link.name})` : ' (not on the host)';
  return `${head}${from}: ${action}\n${unitLines(unit)
    .map((line) => `  ${line}\n`)
    .join('')}`;
}

/** Returns one line per change. Placeholder files appear only as removals, when left by an earlier run. */
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
 * Returns file changes leaving a NIC with exactly the rendered files; files from earlier generations are removed.
 * `taken` lists paths written by other NICs in the plan. Edits of foreign files come first.
 */
export function writeChanges(
  host: Snapshot,
  mac: string,
  { companions, main, interim = [] }: RenderedNic,
  taken: ReadonlySet<string>,
  edits: Takeover['edits'] = [],
): FileChanges {
  const foreign = edits.map(({ file, text }) => foreignChange('edit', file, text));
  const written = [...foreign, ...[...companions, main].map((file) => changeTo(host, file))];
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

/** True if a boot at any moment sees only old or only new files: one file is replaced, or none existed. */
function isReplacedAtOnce(files: FileChanges, main: RenderedFile): boolean {
  const replaced = lasting(files).filter(
    ({ changed, path, foreign }) => changed && !foreign && dirname(path) === dirname(main.path),
  );
  return replaced.length < 2 || replaced.every(({ before }) => before === null);
}

/** Picks the commit file: the last changed file, or the address file if all are correct. */
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

export function foreignChange(
  foreign: 'edit' | 'undo',
  { path, text, mode }: ConfigFile,
  after: string,
): FileChange {
  return { path, before: text, after, mode, changed: true, foreign };
}

/**
 * Returns file changes leaving a NIC without files; `path` is the commit path if no file exists. Foreign files get their
 * effect back first.
 */
export function removeChanges(
  host: Snapshot,
  mac: string,
  path: string,
  undone: readonly FileChange[] = [],
): FileChanges {
  const files = ownFiles(host, mac).toSorted(
    (a, b) => Number(b.path === path) - Number(a.path === path),
  );
  const [commit, ...obsolete] = files.map(removal);
  const none = { path, before: null, after: null, mode: 0, changed: false };
  if (commit) return { companions: undone, commit, obsolete };
  return { companions: undone.slice(0, -1), commit: undone.at(-1) ?? none, obsolete };
}

function ownFiles(host: Snapshot, mac: string): ConfigFile[] {
  return host.files.filter(({ own }) => own?.mac === mac);
}

function removal({ path, text, mode }: ConfigFile): FileChange {
  return { path, before: text, after: null, mode, changed: true };
}
