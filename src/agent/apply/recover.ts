import { isSameJson } from '../../api/same-json.ts';
import { observeHost, observeLinks } from '../observe/host.ts';
import { foreignOnNic, withRoutesBefore } from '../planning/foreign-on-nic.ts';
import { allOf, listOf, withGeneratedConfig } from '../planning/ownership.ts';
import type { Refusal } from '../planning/refusals.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import {
  type AgentState,
  advanceFence,
  atBoot,
  type NicRecord,
  staleness,
  stateAfterDetach,
  withNic,
} from '../state.ts';
import type { Context } from './context.ts';
import { finishFiles, isCommitted, restoreFiles } from './disk.ts';
import { whyUntouchable } from './gate.ts';
import { type JournalEntry, removeJournal, syncJournals } from './memory.ts';
import { inReachOf } from './reach.ts';
import { type ChangedNic, restoreForeign } from './restore-foreign.ts';
import { convergeNic, stateOf } from './settle.ts';

/** Recovery result. */
export interface Recovered {
  readonly state: AgentState;
  /** NICs whose change could not be ended: their journals stay, and the NICs must not be touched until then. */
  readonly inHand: ReadonlyMap<string, Refusal>;
  /**
   * NIC states for these NICs, for plans only. In state.json such a claim would outlive the rollback, when foreign
   * software may own the configuration.
   */
  readonly claims: readonly NicRecord[];
  /** Problems without effect on a NIC. */
  readonly warnings: readonly string[];
}

/**
 * Ends changes left by an interrupted run: a NIC with a committed file is finished, any other NIC is rolled back.
 * Repeating after another interruption leads to the same end. If the kernel cannot or must not be restored, state.json
 * still records the NIC's managed state, and the plan starts from there. If a NIC's files cannot be ended, only the
 * other NICs continue.
 */
export async function recover(
  journals: readonly JournalEntry[],
  before: AgentState,
  context: Context,
): Promise<Recovered> {
  if (journals.length === 0) return { state: before, inHand: new Map(), claims: [], warnings: [] };
  // Read first: without a view of the kernel nothing can be done, and an `ip` timeout must not repeat per NIC.
  const host = await observeHost(context, context.macs, before);
  const changed = journals.map((entry) => withForeignState(entry, host, context));
  const recovered = await endAll(journals, withGeneratedConfig(before, host), context);
  const free = changed.filter(({ nic }) => !recovered.inHand.has(nic.mac));
  if (free.length > 0) await syncJournals(context);
  await restoreForeign(free, context);
  return recovered;
}

/** Adds foreign routes recorded in a journal of this boot; a reboot resets the host. */
function withForeignState(entry: JournalEntry, host: KernelSnapshot, { run }: Context): ChangedNic {
  const now = foreignOnNic(entry, host);
  const { bootId, before, others } = entry;
  if (!others || bootId !== run.bootId) return { nic: entry, had: now };
  const recorded = { name: before.link?.name, routes: others.routes };
  return { nic: entry, had: withRoutesBefore(now, recorded, host) };
}

/** Ends all journal entries. */
async function endAll(
  journals: readonly JournalEntry[],
  before: AgentState,
  context: Context,
): Promise<Recovered> {
  let state = before;
  const inHand = new Map<string, Refusal>();
  const claims: NicRecord[] = [];
  const warnings: string[] = [];
  for (const entry of journals) {
    const { mac, step } = entry;
    try {
      const end = await endEntry(entry, state, context);
      state = end.state;
      warnings.push(...end.warnings);
    } catch (error) {
      // Any failure is reported with its NIC: other NICs do not wait.
      context.log.warn({ err: error, mac, step }, 'interrupted change not completed');
      const message = `an interrupted change cannot be completed: ${(error as Error).message}`;
      inHand.set(mac, { reason: 'RollbackFailed', message });
      if (!entry.rulesOnly) claims.push(unfinishedRecord(entry, state, state));
      state = withSeenFence(state, entry);
    }
  }
  return { state, inHand, claims, warnings };
}

/** Ends one entry; returns the new state, and warnings about its files. */
async function endEntry(entry: JournalEntry, state: AgentState, context: Context) {
  const end = await (entry.rulesOnly ? endRulesOnly : endChange)(entry, state, context);
  await context.stateFile.write(end.state);
  await removeJournal(entry.index, context);
  return end;
}

/**
 * Ends a change to a detached NIC's rules: the NIC stays unmanaged whatever the result. After a reboot such rules are
 * gone.
 */
async function endRulesOnly(entry: JournalEntry, state: AgentState, context: Context) {
  const { mac, bootId, after } = entry;
  const problem =
    bootId === context.run.bootId ? await convergeNic(entry, after, context) : undefined;
  context.log.info({ mac, problem }, 'interrupted rule change recovered');
  return { state: withSeenFence(state, entry), warnings: [] };
}

async function endChange(entry: JournalEntry, state: AgentState, context: Context) {
  const { mac, step } = entry;
  const { files, left } = inReachOf(entry.files, context.hostRoot);
  const committed = left.includes(files.commit.path)
    ? isRecorded(entry, state)
    : isCommitted(files, context);
  const problem =
    committed && isReleased(entry, state, context)
      ? undefined
      : await restoreNic(entry, committed, context);
  context.log.info({ mac, step, committed, problem }, 'interrupted NIC change recovered');
  const lost = committed ? await finishFiles(files, context) : [];
  if (!committed) await restoreFiles(files, context);
  const after = committed ? outcome(entry, state) : state;
  const known = problem ? withNic(after, unfinishedRecord(entry, after, state)) : after;
  // The network manager has read a commit from before the boot.
  const next = atBoot(withSeenFence(known, entry), context.run.bootId);
  return { state: next, warnings: [...lost, ...left.map((path) => `FilesLeft ${path}`)] };
}

/** state.json is written after the commit: for an unreachable commit file only state.json can prove the commit. */
function isRecorded({ record, mac }: JournalEntry, { nics }: AgentState): boolean {
  return isSameJson(
    nics.find((nic) => nic.mac === mac),
    record,
  );
}

/**
 * True if a committed release is complete except for its files: state.json lacks the NIC, or the node booted without
 * the address file. DHCP or an administrator may have configured the NIC since, even with the port's address.
 */
function isReleased({ step, mac, bootId }: JournalEntry, { nics }: AgentState, { run }: Context) {
  if (step !== 'remove') return false;
  return bootId !== run.bootId || nics.every((nic) => nic.mac !== mac);
}

/** Restores the NIC; returns why the NIC is neither fully old nor fully new. */
async function restoreNic(
  entry: JournalEntry,
  committed: boolean,
  context: Context,
): Promise<string | undefined> {
  // After a reboot the kernel has the files' configuration, possibly under other link names.
  const rebooted = entry.bootId !== context.run.bootId;
  if (rebooted && !committed) return undefined;
  const seenNow = await observeLinks(context, context.macs);
  const refusal = whyUntouchable(entry, seenNow, context);
  if (refusal && hasNewOwner(entry, committed, seenNow)) return undefined;
  if (isOnlyLeased(entry, committed, seenNow)) return undefined;
  return refusal?.message ?? convergeNic(entry, committed ? entry.after : entry.before, context);
}

/** True if the NIC was released and carries no managed configuration: leave it to its new owner. */
function hasNewOwner(entry: JournalEntry, committed: boolean, seenNow: KernelSnapshot): boolean {
  if (!committed || entry.step !== 'remove') return false;
  const now = stateOf(entry, seenNow);
  if ('reason' in now) return false;
  const { link, rules } = now;
  return [...(link?.addresses ?? []), ...(link?.routes ?? []), ...rules].length === 0;
}

/**
 * True if only expiring addresses are left to roll back, which the agent never sets: DHCP assigns the address the port
 * has in the cloud.
 */
function isOnlyLeased(entry: JournalEntry, committed: boolean, seenNow: KernelSnapshot): boolean {
  if (committed) return false;
  const { before } = entry;
  const now = stateOf(entry, seenNow);
  if ('reason' in now) return false;
  const { link, rules } = now;
  if (!link || link.name !== before.link?.name || link.addresses.length === 0) return false;
  const bare = link.routes.length + rules.length + before.link.addresses.length === 0;
  return bare && link.addresses.every(({ temporary }) => temporary === true);
}

/** Returns the record for a partly changed NIC: old and new state both count as managed. */
function unfinishedRecord(entry: JournalEntry, after: AgentState, before: AgentState): NicRecord {
  const known = [...after.nics, ...before.nics].find(({ mac }) => mac === entry.mac);
  const record = known ?? provisionalRecord(entry);
  const states = [entry.before, entry.after].flatMap(({ link }) => link?.addresses ?? []);
  const addresses = [...record.addresses, ...states.map(({ cidr }) => cidr)];
  const owned = allOf([...(known ? [listOf(known)] : []), entry.belongings]);
  return { ...record, addresses: [...new Set(addresses)], owned };
}

/** Returns a provisional record for a NIC not managed before. */
function provisionalRecord({ mac, index, record, before, belongings }: JournalEntry): NicRecord {
  const planned = record ?? {
    originalName: before.link?.name ?? '',
    table: belongings.tables[0] ?? 0,
    priority: 0,
  };
  return { ...planned, mac, index, addresses: [], files: [] };
}

function outcome({ record, mac }: JournalEntry, state: AgentState): AgentState {
  return record ? withNic(state, record) : stateAfterDetach(state, mac);
}

function withSeenFence(state: AgentState, { fence }: JournalEntry): AgentState {
  return staleness(state, fence) === undefined ? advanceFence(state, fence) : state;
}
