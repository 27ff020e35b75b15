import { observeLinks } from '../observe/host.ts';
import { isConfiguring } from '../observe/managed-links.ts';
import { onlyLink } from '../planning/candidates.ts';
import { diffNic } from '../planning/diff.ts';
import {
  type NicAddress,
  type NicState,
  nicDifference,
  presentState,
  type RecordedNic,
  sameNic,
} from '../planning/nic-state.ts';
import type { Refusal } from '../planning/refusals.ts';
import { withoutLasting } from '../planning/settings.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeNics, whyUntouchable } from './gate.ts';

/** Time limit in ms until a change shows, including reactions by the kernel, udev and foreign software. */
const patienceMs = 3_000;
/**
 * Time limit in ms for IPv6 duplicate address detection: two seconds by kernel defaults. Also covers networkd, which
 * waits for detection before setting its configuration.
 */
const longPatienceMs = 15_000;
const pauseMs = 50;
/**
 * Time in ms a renamed NIC must stay unchanged: after each rename udev sets names, MTU and more from a `.link` file.
 */
const quietMs = 500;
/** Corrections per NIC: room for state an earlier change enabled, and for state foreign software reverted. */
const maxChanges = 3;

/** NIC with its wanted state. */
export interface Goal {
  readonly nic: RecordedNic;
  readonly want: NicState;
  /** True if the NIC must be present; otherwise an unplugged NIC only needs correct rules. */
  readonly plugged?: boolean;
}

export interface Settled<G> extends Assessment<G> {
  /** Last kernel snapshot. */
  readonly seen: KernelSnapshot;
}

interface Assessment<G> {
  /** Problem per NIC, for NICs not in the wanted state. */
  readonly wrong: ReadonlyMap<G, string>;
  /** Address another host has, per NIC with a problem. */
  readonly duplicate: ReadonlyMap<G, string>;
  /** Result of `alarm` for the last snapshot. */
  readonly alarm?: string;
}

export interface SettleOptions {
  /** Kernel snapshot taken already. */
  readonly first?: KernelSnapshot;
  /** Link names before a rename udev may still react to. */
  readonly renamedFrom?: readonly string[];
  /** MACs of NICs the network manager may still configure. */
  readonly contested?: readonly string[];
  /** Returns why all changes must stop, whatever the NICs' state. */
  readonly alarm?: (seen: KernelSnapshot) => string | undefined;
}

/** Returns the NIC's state in a snapshot, or a refusal if two links share the MAC: either may be the NIC. */
export function stateOf(nic: RecordedNic, seen: KernelSnapshot): NicState | Refusal {
  const link = nic.rulesOnly ? undefined : onlyLink(seen, nic.mac);
  if (!link || !('reason' in link)) return presentState(seen, link, nic.belongings);
  return link.reason === 'WaitingForNIC' ? presentState(seen, undefined, nic.belongings) : link;
}

/** Describes remaining differences; an unplugged NIC only needs its rules. */
function differenceOf({ nic, want, plugged = false }: Goal, seen: KernelSnapshot): string {
  const now = stateOf(nic, seen);
  if ('reason' in now) return now.message;
  return nicDifference(now, plugged ? want : reachable(now, want));
}

function reachable(now: NicState, want: NicState): NicState {
  return now.link && want.link ? want : { rules: want.rules };
}

/**
 * Brings NICs from any state to the wanted state: reads, corrects differences, and repeats until none is left or time
 * is up. The first read is immediate, as netlink changes show when the call returns; only foreign changes take time.
 */
export async function settle<G extends Goal>(
  goals: readonly G[],
  context: Context,
  options: SettleOptions = {},
): Promise<Settled<G>> {
  const { clock, macs } = context;
  const start = clock.monotonicMs();
  const failures = new Map<G, string>();
  const tries = new Tries<G>();
  let rightSince = Number.POSITIVE_INFINITY;
  for (let known = options.first; ; known = undefined) {
    const seen = known ?? (await observeLinks(context, macs));
    const reading = assess(goals, seen, failures, options, context);
    const at = clock.monotonicMs();
    rightSince = reading.right ? Math.min(rightSince, at) : Number.POSITIVE_INFINITY;
    const end = start + (reading.busy ? longPatienceMs : patienceMs);
    if (at >= end || isQuiet(seen, options, at - rightSince)) return tolerant(reading, seen);
    const open = reading.improvable ? tries.left(reading.wrong, seen, context) : [];
    if (open.length === 0) await clock.sleep(pauseMs);
    else await change(open, seen, tries, context, failures);
  }
}

/** Number of corrections per NIC. */
class Tries<G extends Goal> {
  readonly #made = new Map<G, number>();

  /** Returns goals due for another correction; a NIC taken by foreign software gets none until free. */
  left(goals: ReadonlyMap<G, unknown>, seen: KernelSnapshot, context: Context): G[] {
    return [...goals.keys()].filter(
      (goal) =>
        (this.#made.get(goal) ?? 0) < maxChanges && !whyUntouchable(goal.nic, seen, context),
    );
  }

  /** Counts a correction; returns its number. */
  next(goal: G): number {
    const made = (this.#made.get(goal) ?? 0) + 1;
    this.#made.set(goal, made);
    return made;
  }
}

interface Reading<G> extends Assessment<G> {
  /** True if no problem can still be solved and no further change is expected. */
  readonly right: boolean;
  readonly improvable: boolean;
  /** True if links only wait for address probes, or networkd is at work. */
  readonly busy: boolean;
}

/** Returns final problems, without differences in settings foreign software may change. */
function tolerant<G extends Goal>(
  { wrong, ...rest }: Assessment<G>,
  seen: KernelSnapshot,
): Settled<G> {
  const left = [...wrong].filter(
    ([goal]) => differenceOf({ ...goal, want: withoutLasting(goal.want) }, seen) !== '',
  );
  return { ...rest, wrong: new Map(left), seen };
}

function assess<G extends Goal>(
  goals: readonly G[],
  seen: KernelSnapshot,
  failures: ReadonlyMap<G, string>,
  options: SettleOptions,
  context: Context,
): Reading<G> {
  const wrong = wrongOf(goals, seen, failures, context);
  const duplicate = new Map(
    [...wrong.keys()].flatMap((goal) => {
      const [cidr] = probed(goal, seen, 'failed');
      return cidr === undefined ? [] : [[goal, cidr] as const];
    }),
  );
  const words = options.alarm?.(seen);
  const idle = { right: false, improvable: false, busy: false };
  if (words !== undefined) return { wrong, duplicate, alarm: words, ...idle };
  const solvable = [...wrong.keys()].filter((goal) => !duplicate.has(goal));
  const others = solvable.filter((goal) => !isOnlyProbed(goal, seen));
  // Rules of detached NICs do not justify giving up a probe.
  const probing = others.length < solvable.length && others.every(({ nic }) => nic.rulesOnly);
  const busy = probing || isBusy(seen, options, context);
  const right = solvable.length === 0 && !busy;
  return { wrong, duplicate, right, improvable: others.length > 0, busy };
}

/** Returns wanted addresses in this probe state. */
function probed({ nic, want }: Goal, seen: KernelSnapshot, probe: NicAddress['probe']): string[] {
  const wanted = new Set(want.link?.addresses.map(({ cidr }) => cidr));
  const now = stateOf(nic, seen);
  if ('reason' in now) return [];
  return (now.link?.addresses ?? [])
    .filter((address) => wanted.has(address.cidr) && address.probe === probe)
    .map(({ cidr }) => cidr);
}

function withoutProbe({ probe: _probe, ...address }: NicAddress): NicAddress {
  return address;
}

/** True if the NIC only waits for duplicate address detection. */
function isOnlyProbed(goal: Goal, seen: KernelSnapshot): boolean {
  if (probed(goal, seen, 'going on').length === 0) return false;
  const { nic, want } = goal;
  const now = stateOf(nic, seen);
  if ('reason' in now || !now.link) return false;
  const { link, rules } = now;
  return sameNic({ link: { ...link, addresses: link.addresses.map(withoutProbe) }, rules }, want);
}

function wrongOf<G extends Goal>(
  goals: readonly G[],
  seen: KernelSnapshot,
  failures: ReadonlyMap<G, string>,
  context: Context,
): Map<G, string> {
  return new Map(
    goals.flatMap((goal) => {
      const difference = differenceOf(goal, seen);
      if (!difference) return [];
      const failure = failures.get(goal);
      const words = failure ? `${difference} (${failure})` : difference;
      return [[goal, whyUntouchable(goal.nic, seen, context)?.message ?? words] as const];
    }),
  );
}

/**
 * True if no further change is expected: udev ends a rename by keeping the old name as alternative name, or nothing has
 * changed for a while.
 */
function isQuiet(
  { links }: KernelSnapshot,
  { renamedFrom = [], contested = [] }: SettleOptions,
  quietFor: number,
): boolean {
  if (quietFor < 0) return false;
  const alternatives = new Set(links.flatMap(({ altNames }) => altNames));
  const renamed = renamedFrom.every((name) => alternatives.has(name));
  return quietFor >= quietMs || (renamed && contested.length === 0);
}

/** True if networkd is configuring a contested NIC. */
function isBusy(
  { links }: KernelSnapshot,
  { contested = [] }: SettleOptions,
  { hostRoot }: Context,
): boolean {
  const indexes = links.filter(({ mac }) => contested.includes(mac)).map(({ index }) => index);
  return indexes.some((index) => isConfiguring(hostRoot, index));
}

async function change<G extends Goal>(
  goals: readonly G[],
  seen: KernelSnapshot,
  tries: Tries<G>,
  context: Context,
  failed: Map<G, string>,
): Promise<void> {
  const changes = new Map(
    goals.flatMap((goal) => {
      const now = stateOf(goal.nic, seen);
      if ('reason' in now) return [];
      // The second correction goes through down: every kernel allows a rename there.
      const options = { renameDown: tries.next(goal) > 1 };
      return [[goal, diffNic(now, reachable(now, goal.want), options)] as const];
    }),
  );
  const { failures } = await changeNics(changes, seen, context);
  for (const [goal, { message }] of failures) failed.set(goal, message);
}

/** Brings one NIC to the wanted state; returns the remaining problem, if any. */
export async function convergeNic(
  nic: RecordedNic,
  want: NicState,
  context: Context,
): Promise<string | undefined> {
  const goal = { nic, want };
  return (await settle([goal], context)).wrong.get(goal);
}
