import { ipOf } from '../../api/address.ts';
import type { Family } from '../../api/job.ts';
import { linkOf } from '../identity.ts';
import { observeLinks, withSettings } from '../observe/host.ts';
import { diffNic } from '../planning/diff.ts';
import type { RecordedNic } from '../planning/nic-state.ts';
import type { Change, Operation } from '../planning/operation.ts';
import { routeKey } from '../planning/ownership.ts';
import { type Refusal, refusal, unusable } from '../planning/refusals.ts';
import type { UnaffectedNic } from '../planning/remembered.ts';
import { withoutLasting } from '../planning/settings.ts';
import type { Unit } from '../planning/unit.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { stagedFiles, syncStaged } from './disk.ts';
import { changeNics, whyUntouchable } from './gate.ts';
import { lostByNode } from './lost.ts';
import type { TransactionBatch } from './rollback.ts';
import { type Goal, settle, stateOf } from './settle.ts';

export interface Changed {
  /** Kernel state after the change, if read on the way. */
  readonly seen?: KernelSnapshot | undefined;
  /**
   * Kernel refusals for NICs the network manager also configures. The manager deletes unknown state as soon as a link
   * is up, such as a route's source address. Verification sets the missing state again.
   */
  readonly stopped: ReadonlyMap<Unit, string>;
  /** MACs of NICs the network manager also configures. */
  readonly contested: readonly string[];
}

/**
 * Changes the kernel, and meanwhile syncs the staged files, as `ip` is a separate process. `latest` is the latest
 * kernel snapshot.
 */
export async function changeLinks(
  work: TransactionBatch,
  latest: KernelSnapshot,
  context: Context,
): Promise<Changed> {
  const units = work.going;
  const changes = new Map(units.map((unit) => [unit, unit.change]));
  const [{ failures, seen }, files] = await Promise.all([
    changeNics(changes, latest, context),
    Promise.allSettled(units.map((unit) => secureFiles(unit, context))),
  ]);
  const stopped = new Map<Unit, string>();
  await evictNames(
    units.filter((unit) => failures.get(unit)?.busy),
    context,
  );
  for (const [unit, { message, busy, reason }] of failures) {
    const again = busy ? await changeThroughDown(unit, context) : undefined;
    if (again) changes.set(unit, again.change);
    const problem = again ? again.problem : message;
    if (problem === undefined) continue;
    const failure = refusal(reason, problem);
    if (isPassing(failure, unit, changes.get(unit), context)) stopped.set(unit, problem);
    else await work.fail(unit, failure);
  }
  await work.each('PersistFailed', async (unit) => {
    const file = files[units.indexOf(unit)];
    if (file?.status === 'rejected') throw file.reason;
  });
  const undisturbed = work.failures.size + failures.size === 0 ? seen : undefined;
  const contested = units.filter((unit) => isContested(unit, changes.get(unit), context));
  return {
    seen: undisturbed && withSettings(undisturbed, context, context.macs),
    stopped,
    contested: contested.map(({ nic }) => nic.mac),
  };
}

/** Syncs staged files, reads them back and validates them against the desired NIC. */
async function secureFiles({ desired, files }: Unit, context: Context): Promise<void> {
  await syncStaged(files, context);
  if (!desired) return;
  for (const file of stagedFiles(files, context)) context.backend.validate(file, desired);
}

/** Moves NICs with swapped names to temporary names; such a rename needs a down link. */
async function evictNames(units: readonly Unit[], context: Context): Promise<void> {
  const evicted = units.flatMap((unit) => {
    const { eviction } = unit.change;
    return eviction ? [{ unit, eviction }] : [];
  });
  if (evicted.length === 0) return;
  const now = await observeLinks(context, context.macs);
  const changes = new Map(
    evicted.flatMap(({ unit, eviction }) => {
      const name = linkOf(now, unit.nic.mac)?.name;
      if (!('dev' in eviction) || name === undefined || eviction.dev !== name) return [];
      const down: Operation = { kind: 'link.down', dev: name };
      return [[unit, { sysctls: [], operations: [down, eviction] }] as const];
    }),
  );
  // A refusal repeats in the NIC's own change.
  await changeNics(changes, now, context);
}

/** Kernels before 6.2 rename only links in state down. */
async function changeThroughDown(unit: Unit, context: Context) {
  const seen = await observeLinks(context, context.macs);
  const now = stateOf(unit.nic, seen);
  if ('reason' in now) return { change: unit.change, problem: now.message };
  const change = diffNic(now, unit.after, { renameDown: true });
  const { failures } = await changeNics(new Map([[unit, change]]), seen, context);
  return { change, problem: failures.get(unit)?.message };
}

interface UnitGoal extends Goal {
  readonly unit: Unit;
}

/** Input for verification: state before the change, change result, and unaffected NICs. */
interface ToVerify {
  readonly before: KernelSnapshot;
  readonly changed: Changed;
  readonly unaffected: readonly UnaffectedNic[];
}

/**
 * Returns the part of a NIC to verify: after the release of an adopted NIC only the rules. networkd may configure the link
 * by the foreign file again at once.
 */
function verifiedPart({ action, handover, nic }: Unit): RecordedNic {
  return action === 'remove' && handover ? { ...nic, rulesOnly: true } : nic;
}

export async function verifyLinks(
  work: TransactionBatch,
  { before, changed, unaffected }: ToVerify,
  context: Context,
): Promise<KernelSnapshot> {
  const goals = work.going.map((unit) => ({
    unit,
    nic: verifiedPart(unit),
    want: withoutLasting(unit.after),
    plugged: unit.action === 'apply',
  }));
  const renamed = work.going.flatMap(({ before: { link }, after }) =>
    link && after.link && link.name !== after.link.name ? [link.name] : [],
  );
  const { wrong, duplicate, alarm, seen } = await settle<UnitGoal | UnaffectedNic>(
    [...goals, ...unaffected],
    context,
    {
      ...(changed.seen ? { first: changed.seen } : {}),
      renamedFrom: context.udev ? renamed : [],
      contested: changed.contested,
      alarm: (now) => lostByNode(before, now, context.macs),
    },
  );
  if (alarm) throw new Error(`the node lost ${alarm}`);
  for (const [goal, message] of wrong) {
    if (!('unit' in goal)) {
      // The NIC's own run, or the next check, reports and repairs the rules.
      context.log.warn({ mac: goal.nic.mac, message }, 'rules of an unaffected NIC differ');
      continue;
    }
    const refused = changed.stopped.get(goal.unit);
    const taken = duplicate.get(goal);
    if (taken)
      await work.fail(
        goal.unit,
        refusal('AddressDuplicate', `another device in the subnet has ${taken}`),
      );
    else if (refused) await work.fail(goal.unit, refusal('ApplyFailed', refused));
    else await work.fail(goal.unit, refusal('VerifyFailed', message));
  }
  for (const unit of work.going.filter(({ action }) => action === 'apply')) {
    const taken = whyUntouchable(unit.nic, seen, context, unusable);
    if (taken) work.report(unit, taken);
  }
  return seen;
}

/** True if a kernel refusal may be temporary, as the network manager configures the NIC too. */
function isPassing(
  { reason }: Refusal,
  unit: Unit,
  change: Change | undefined,
  context: Context,
): boolean {
  return reason === 'ApplyFailed' && isContested(unit, change, context);
}

/**
 * True if a link comes up and the network manager may hold another address or route: networkd sets its configuration
 * when the carrier appears. NetworkManager may delete existing state from any NIC coming up.
 */
function isContested(
  { after, nic, handover }: Unit,
  change: Change | undefined,
  { backend }: Context,
): boolean {
  // networkd may release a renamed link by itself, and delete its addresses amid the change.
  if (handover) return true;
  if (!change?.operations.some(({ kind }) => kind === 'link.up')) return false;
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
