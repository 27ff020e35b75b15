import { isSameJson } from '../../api/same-json.ts';
import { linkOf } from '../identity.ts';
import { observeHost, observeLinks } from '../observe/host.ts';
import { withEntrusted } from '../planning/foreign.ts';
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
import {
  type ForeignBaseline,
  type ForeignLosses,
  foreignBaseline,
  foreignLosses,
  noForeignLosses,
  pathsOf,
} from './foreign.ts';
import { whyUntouchable } from './gate.ts';
import { type JournalEntry, removeJournal, syncJournals } from './memory.ts';
import { inReachOf } from './reach.ts';
import { convergeNic, stateOf } from './settle.ts';

/** What others lost meanwhile is in it too. */
export interface Recovered extends ForeignLosses {
  readonly state: AgentState;
  /** NICs whose change could not be ended: their journals stay, and nothing may be done to them until it is. */
  readonly inHand: ReadonlyMap<string, Refusal>;
  /**
   * What those NICs have of ours until then: for plans, and not for state.json, which would go on to say so when they are
   * undone and others have them.
   */
  readonly claims: readonly NicRecord[];
}

/**
 * Ends what an interrupted run left in hand: a NIC whose file was renamed is finished, any other is undone. Doing it
 * again, after being interrupted itself, leads to the same end. Where that cannot or must not be, state.json says what of
 * the NIC is ours all the same, and the plan goes on from what is there; where its files cannot be brought to an end it
 * does so for the other NICs alone.
 */
export async function recover(
  journals: readonly JournalEntry[],
  before: AgentState,
  context: Context,
): Promise<Recovered> {
  if (journals.length === 0)
    return { state: before, inHand: new Map(), claims: [], ...noForeignLosses };
  // Where the kernel cannot be seen nothing can be done, and `ip` may be waited for once but not once for each NIC.
  const host = await observeHost(context, context.macs, before);
  const others = beforeTheCrash(
    foreignBaseline(host, before, context, journals),
    journals,
    context,
  );
  const { state, inHand, claims, warnings } = await allEnded(
    journals,
    withGeneratedConfig(before, host),
    context,
  );
  const free = journals.filter(({ mac }) => !inHand.has(mac));
  if (free.length > 0) await syncJournals(context);
  const losses = await foreignLosses(others, { nics: free, paths: pathsOf(journals) }, context);
  return { state, inHand, claims, ...losses, warnings: [...warnings, ...losses.warnings] };
}

/** What others have, and what they had of it when the NICs were taken in hand; a boot has the host begin anew. */
function beforeTheCrash(
  others: ForeignBaseline,
  journals: readonly JournalEntry[],
  { run }: Context,
): ForeignBaseline {
  const ofThisBoot = journals.filter(({ bootId }) => bootId === run.bootId);
  const kernel = ofThisBoot.reduce((sum, { mac, before, others: had }) => {
    const now = linkOf(sum, mac)?.name;
    if (!had || !now) return sum;
    return withEntrusted(sum, had, (name) => (name === before.link?.name ? now : name));
  }, others.kernel);
  return { ...others, kernel };
}

/** As `recover`, which looks at what others have before and after it. */
async function allEnded(
  journals: readonly JournalEntry[],
  before: AgentState,
  context: Context,
): Promise<Omit<Recovered, 'foreignStateLost'>> {
  let state = before;
  const inHand = new Map<string, Refusal>();
  const claims: NicRecord[] = [];
  const warnings: string[] = [];
  for (const entry of journals) {
    const { mac, step } = entry;
    try {
      const end = await ended(entry, state, context);
      state = end.state;
      warnings.push(...end.warnings);
    } catch (error) {
      // Whatever it is, it is told with the NIC: the others do not wait for it.
      context.log.warn({ err: error, mac, step }, 'nic still in hand');
      const message = `an earlier change cannot end: ${(error as Error).message}`;
      inHand.set(mac, { reason: 'RollbackFailed', message });
      if (!entry.rulesOnly) claims.push(halfDone(entry, state, state));
      state = seen(state, entry);
    }
  }
  return { state, inHand, claims, warnings };
}

/** The state once the NIC is no longer in hand, and what became of its files but as planned. */
async function ended(entry: JournalEntry, state: AgentState, context: Context) {
  const end = await (entry.rulesOnly ? ridOfRules : broughtToEnd)(entry, state, context);
  await context.stateFile.write(end.state);
  await removeJournal(entry.index, context);
  return end;
}

/** Of a NIC that had left before: nothing of it is ours, whatever becomes of its rules. After a boot nobody remembers them. */
async function ridOfRules(entry: JournalEntry, state: AgentState, context: Context) {
  const { mac, bootId, after } = entry;
  const problem =
    bootId === context.run.bootId ? await convergeNic(entry, after, context) : undefined;
  context.log.info({ mac, problem }, 'rules recovered');
  return { state: seen(state, entry), warnings: [] };
}

async function broughtToEnd(entry: JournalEntry, state: AgentState, context: Context) {
  const { mac, step } = entry;
  const { files, left } = inReachOf(entry.files, context.hostRoot);
  const committed = left.includes(files.commit.path)
    ? isRecorded(entry, state)
    : isCommitted(files, context);
  const problem =
    committed && isReleased(entry, state, context)
      ? undefined
      : await bringBack(entry, committed, context);
  context.log.info({ mac, step, committed, problem }, 'nic recovered');
  const lost = committed ? await finishFiles(files, context) : [];
  if (!committed) await restoreFiles(files, context);
  const after = committed ? outcome(entry, state) : state;
  const known = problem ? withNic(after, halfDone(entry, after, state)) : after;
  // A commit of before the boot is what the network manager has read since.
  const next = atBoot(seen(known, entry), context.run.bootId);
  return { state: next, warnings: [...lost, ...left.map((path) => `FilesLeft ${path}`)] };
}

/** state.json is written behind the commit: it alone tells of one that is out of reach. */
function isRecorded({ record, mac }: JournalEntry, { nics }: AgentState): boolean {
  return isSameJson(
    nics.find((nic) => nic.mac === mac),
    record,
  );
}

/**
 * Whether a committed removal is over but for its files: state.json has forgotten the NIC, or the node booted without its address
 * file. DHCP or an administrator may have set the NIC up again since, even with the address of its port.
 */
function isReleased({ step, mac, bootId }: JournalEntry, { nics }: AgentState, { run }: Context) {
  if (step !== 'remove') return false;
  return bootId !== run.bootId || nics.every((nic) => nic.mac !== mac);
}

/** Resolves to why the NIC is neither fully old nor fully new. */
async function bringBack(
  entry: JournalEntry,
  committed: boolean,
  context: Context,
): Promise<string | undefined> {
  // After a reboot the kernel has what the files say, under names that may be others than before.
  const rebooted = entry.bootId !== context.run.bootId;
  if (rebooted && !committed) return undefined;
  const seenNow = await observeLinks(context, context.macs);
  const refusal = whyUntouchable(entry, seenNow, context);
  if (refusal && isGivenAway(entry, committed, seenNow)) return undefined;
  if (isOnlyLeased(entry, committed, seenNow)) return undefined;
  return refusal?.message ?? convergeNic(entry, committed ? entry.after : entry.before, context);
}

/** Whether the NIC is to be ours no more and has nothing of ours: who has taken it since may keep it as it is. */
function isGivenAway(entry: JournalEntry, committed: boolean, seenNow: KernelSnapshot): boolean {
  if (!committed || entry.step !== 'remove') return false;
  const now = stateOf(entry, seenNow);
  if ('reason' in now) return false;
  const { link, rules } = now;
  return [...(link?.addresses ?? []), ...(link?.routes ?? []), ...rules].length === 0;
}

/**
 * Whether nothing of what is to be undone is there but an address that will expire, which the agent never sets: DHCP gives
 * a NIC the very address that its port has in the cloud.
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

/** A NIC of which something may be left: all that it had and was to have is ours. */
function halfDone(entry: JournalEntry, after: AgentState, before: AgentState): NicRecord {
  const known = [...after.nics, ...before.nics].find(({ mac }) => mac === entry.mac);
  const record = known ?? neverDone(entry);
  const states = [entry.before, entry.after].flatMap(({ link }) => link?.addresses ?? []);
  const addresses = [...record.addresses, ...states.map(({ cidr }) => cidr)];
  const owned = allOf([...(known ? [listOf(known)] : []), entry.belongings]);
  return { ...record, addresses: [...new Set(addresses)], owned };
}

/** A NIC that was to become ours. */
function neverDone({ mac, index, record, before, belongings }: JournalEntry): NicRecord {
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

function seen(state: AgentState, { fence }: JournalEntry): AgentState {
  return staleness(state, fence) === undefined ? advanceFence(state, fence) : state;
}
