import { ipOf } from '../../api/address.ts';
import type { Family, NicReason } from '../../api/job.ts';
import { observeLinks, withSettings } from '../observe/host.ts';
import { diffNic } from '../planning/diff.ts';
import { entrustedTo } from '../planning/foreign.ts';
import { routeKey } from '../planning/ownership.ts';
import { type Refusal, refusal, untouchable } from '../planning/refusals.ts';
import { withoutLasting } from '../planning/settings.ts';
import { stateAfter, type Unit } from '../planning/unit.ts';
import { type KernelSnapshot, rt, type Snapshot } from '../snapshot.ts';
import type { AgentState } from '../state.ts';
import type { Context } from './context.ts';
import {
  commitFiles,
  restoreFiles,
  settleFiles,
  stagedFiles,
  stageFiles,
  syncFiles,
  syncStaged,
} from './disk.ts';
import { changeKernel } from './kernel.ts';
import { removeJournal, syncJournals, writeJournal } from './memory.ts';
import { bringNic, settle, stateOf } from './settle.ts';
import { takenBy } from './taken.ts';

export interface Failure extends Refusal {
  /** Of the link, when the unit was not undone. */
  readonly name?: string;
}

export interface Outcome {
  readonly state: AgentState;
  /** NICs that are as they were before, or whose message says that they are not; and those that others took meanwhile. */
  readonly failures: ReadonlyMap<Unit, Failure>;
  /** The last look at the kernel, where nothing was changed after it. */
  readonly seen?: KernelSnapshot;
  /** What went wrong without a NIC being any the worse for it. */
  readonly warnings: readonly string[];
}

/**
 * Does each unit as a whole or not at all, all of them side by side: journal, files beside their place, kernel, a look at
 * the kernel, rename, state. A unit that fails anywhere is undone, and the others go on. `before` is the host before.
 */
export async function transact(
  units: readonly Unit[],
  state: AgentState,
  before: KernelSnapshot,
  context: Context,
): Promise<Outcome> {
  const work = new UndoableWork(units, context);
  let next = state;
  await work.each('PersistFailed', (unit) =>
    writeJournal(unit, entrustedTo(unit.nic, before), context),
  );
  await work.together('PersistFailed', () => syncJournals(context));
  await work.each('PersistFailed', (unit) => stageFiles(unit.files, context));
  let changed: Changed = { stopped: new Map() };
  await work.together('ApplyFailed', async () => {
    changed = await changeLinks(work, context);
  });
  let last: KernelSnapshot | undefined;
  await work.together('VerifyFailed', async () => {
    last = await verifyLinks(work, before, changed, context);
  });
  await work.each('PersistFailed', (unit) => commitFiles(unit.files, context));
  await work.together('PersistFailed', () =>
    syncFiles(
      work.going.map((unit) => unit.files),
      context,
    ),
  );
  await work.together('PersistFailed', async () => {
    const after = work.going.reduce(stateAfter, state);
    await context.stateFile.write(after);
    next = after;
  });
  const warnings = await letGo(work.going, context);
  const undone = work.failures.size > 0;
  return {
    state: next,
    failures: work.failures,
    warnings,
    ...(last && !undone ? { seen: last } : {}),
  };
}

interface Changed {
  /** The kernel's state after the change, if that was seen on the way. */
  readonly seen?: KernelSnapshot | undefined;
  /**
   * What the kernel said of NICs that the network manager works on too: it drops what it does not know as soon as a link is
   * up, the address that a route is to use among it. What is missing then is made up for while the links are verified.
   */
  readonly stopped: ReadonlyMap<Unit, string>;
}

/** Changes the kernel and meanwhile, as it works in a process of its own, makes sure of the staged files. */
async function changeLinks(work: UndoableWork, context: Context): Promise<Changed> {
  const units = work.going;
  const changes = new Map(units.map((unit) => [unit, unit.change]));
  const [{ failures, seen }, files] = await Promise.all([
    changeKernel(changes, context),
    Promise.allSettled(units.map((unit) => secureFiles(unit, context))),
  ]);
  const stopped = new Map<Unit, string>();
  for (const [unit, { message, busy }] of failures) {
    if (!busy && isContested(unit, context)) {
      stopped.set(unit, message);
      continue;
    }
    const problem = busy ? await changeThroughDown(unit, context) : message;
    if (problem) await work.fail(unit, { reason: 'ApplyFailed', message: problem });
  }
  await work.each('PersistFailed', async (unit) => {
    const file = files[units.indexOf(unit)];
    if (file?.status === 'rejected') throw file.reason;
  });
  const undisturbed = work.failures.size + failures.size === 0 ? seen : undefined;
  return { seen: undisturbed && withSettings(undisturbed, context, context.macs), stopped };
}

/** The staged files are on the disk and say, read back, what the NIC shall be. */
async function secureFiles({ desired, files }: Unit, context: Context): Promise<void> {
  await syncStaged(files, context);
  if (!desired) return;
  for (const file of stagedFiles(files, context)) context.backend.validate(file, desired);
}

/** Kernels before 6.2 rename only links that are down. */
async function changeThroughDown(unit: Unit, context: Context) {
  const now = stateOf(unit.nic, await observeLinks(context, context.macs));
  const change = diffNic(now, unit.after, { renameDown: true });
  return (await changeKernel(new Map([[unit, change]]), context)).failures.get(unit)?.message;
}

async function verifyLinks(
  work: UndoableWork,
  before: KernelSnapshot,
  changed: Changed,
  context: Context,
): Promise<KernelSnapshot> {
  const goals = work.going.map((unit) => ({
    unit,
    nic: unit.nic,
    want: withoutLasting(unit.after),
    plugged: unit.action === 'apply',
  }));
  const renamed = work.going.flatMap(({ before: { link }, after }) =>
    link && after.link && link.name !== after.link.name ? [link.name] : [],
  );
  const { wrong, duplicate, alarm, seen } = await settle(goals, context, {
    ...(changed.seen ? { first: changed.seen } : {}),
    renamedFrom: context.udev ? renamed : [],
    contested: work.going.filter((unit) => isContested(unit, context)).map(({ nic }) => nic.mac),
    alarm: (now) => lostByNode(before, now, context.macs),
  });
  if (alarm) throw new Error(`the node lost ${alarm}`);
  for (const [goal, message] of wrong) {
    const refused = changed.stopped.get(goal.unit);
    const taken = duplicate.get(goal);
    if (taken)
      await work.fail(goal.unit, refusal('AddressDuplicate', `somebody else has ${taken}`));
    else if (refused) await work.fail(goal.unit, refusal('ApplyFailed', refused));
    else await work.fail(goal.unit, refusal('VerifyFailed', message));
  }
  for (const unit of work.going.filter(({ action }) => action === 'apply')) {
    const taken = takenBy(unit.nic, seen, untouchable, context);
    if (taken) work.tell(unit, taken);
  }
  return seen;
}

/**
 * Whether a NIC comes up of which the network manager may hold another address or route: it sets that once it sees the
 * carrier. NetworkManager may take away what it finds on a NIC that it sees come up, whatever it holds of it.
 */
function isContested({ change, after, nic }: Unit, { backend }: Context): boolean {
  if (!change.operations.some(({ kind }) => kind === 'link.up')) return false;
  if (isOfNetworkManager(backend.name)) return true;
  const { addresses = [], routes = [] } = after.link ?? {};
  const ips = new Set(addresses.map(({ cidr }) => ipOf(cidr)));
  const keys = new Set(routes.map(routeKey));
  const { belongings } = nic;
  return (
    belongings.ips.some((ip) => !ips.has(ip)) || belongings.routes.some((key) => !keys.has(key))
  );
}

function isOfNetworkManager(family: Family): boolean {
  return family === 'keyfile' || family === 'ifcfg';
}

/**
 * The change is done; what cannot be cleared away now is cleared when the agent runs next. Resolves to which backups could
 * not be made.
 */
async function letGo(units: readonly Unit[], context: Context): Promise<string[]> {
  try {
    const lost = await Promise.all(units.map((unit) => settleFiles(unit.files, context)));
    await Promise.all(units.map((unit) => removeJournal(unit.index, context)));
    if (units.length > 0) await syncJournals(context);
    return lost.flat();
  } catch (error) {
    context.log.warn({ err: error }, 'journal kept');
    return [];
  }
}

/** Units on their way: what fails at a step is undone at once and takes no part in the next ones. */
class UndoableWork {
  readonly #context: Context;
  readonly #going: Set<Unit>;
  readonly #failures = new Map<Unit, Failure>();

  constructor(units: readonly Unit[], context: Context) {
    this.#context = context;
    this.#going = new Set(units);
  }

  get going(): readonly Unit[] {
    return [...this.#going];
  }

  get failures(): ReadonlyMap<Unit, Failure> {
    return this.#failures;
  }

  /** Takes a step with each unit that is still on its way. */
  async each(reason: NicReason, step: (unit: Unit) => Promise<void>): Promise<void> {
    const units = this.going;
    const results = await Promise.allSettled(units.map((unit) => step(unit)));
    // Latest first, as their names and files may stand on one another.
    for (const [at, result] of [...results.entries()].toReversed()) {
      const unit = units[at];
      if (unit && result.status === 'rejected')
        await this.fail(unit, { reason, message: words(result.reason) });
    }
  }

  /** Takes one step for all units that are still on their way; none is taken when there are none. */
  async together(reason: NicReason, step: () => Promise<void>): Promise<void> {
    if (this.#going.size === 0) return;
    try {
      await step();
    } catch (error) {
      for (const unit of this.going.toReversed())
        await this.fail(unit, { reason, message: words(error) });
    }
  }

  /**
   * What is wrong with a NIC though it is as it shall be: others took it meanwhile, and undoing it would be felt by them. It is
   * ours from now on, so that the next run knows which part of it is.
   */
  tell(unit: Unit, failure: Refusal): void {
    this.#failures.set(unit, { ...failure, name: unit.after.link?.name ?? '' });
    this.#context.log.warn({ mac: unit.target.mac, ...failure }, 'nic taken by others');
  }

  /** Undoes a unit: kernel and files are as they were before it, which is looked at. */
  async fail(unit: Unit, failure: Refusal): Promise<void> {
    this.#going.delete(unit);
    const problem = await this.#undo(unit);
    const message = problem
      ? `${failure.message}; not undone: ${problem}`
      : `${failure.message}; undone`;
    this.#failures.set(unit, { reason: problem ? 'RollbackFailed' : failure.reason, message });
    this.#context.log.warn({ mac: unit.target.mac, ...failure, problem }, 'nic undone');
  }

  async #undo(unit: Unit): Promise<string | undefined> {
    try {
      const problem = await bringNic(unit.nic, unit.before, this.#context);
      await restoreFiles(unit.files, this.#context);
      // The journal stays until the NIC is back: the next run tries again.
      if (!problem) await removeJournal(unit.index, this.#context);
      return problem;
    } catch (error) {
      return words(error);
    }
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * What the node itself lost between two looks at it, in words: a default route, or an address of a link that has one.
 * The NICs with these MACs are left out. More than before is no loss.
 */
export function lostByNode(
  before: Vital,
  after: Vital,
  macs: ReadonlySet<string>,
): string | undefined {
  const still = new Set(vital(after, macs));
  return vital(before, macs).find((item) => !still.has(item));
}

type Vital = Pick<Snapshot, 'links' | 'addresses' | 'routes'>;

function vital({ links, addresses, routes }: Vital, macs: ReadonlySet<string>): string[] {
  const ours = new Set(links.filter(({ mac }) => macs.has(mac)).map(({ name }) => name));
  const defaults = routes.filter(
    ({ to, type, table, links: by }) =>
      to.endsWith('/0') &&
      type === rt.unicast &&
      table === rt.mainTable &&
      !by.some((name) => ours.has(name)),
  );
  const carriers = new Set(defaults.flatMap((route) => route.links));
  return [
    ...defaults.map(({ to, via, links: by }) => `route ${to} via ${via ?? ''} dev ${by.join(',')}`),
    ...addresses
      .filter(({ link, scope }) => carriers.has(link) && scope === rt.scopeGlobal)
      .map(({ cidr, link }) => `address ${cidr} of ${link}`),
  ];
}
