import { isConfiguring } from '../observe/family.ts';
import { observeLinks } from '../observe/host.ts';
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

/** How long the kernel, udev and others may take until a change shows. */
const patienceMs = 3_000;
/**
 * How long it may take until an address of IPv6 is known to be nobody else's: two seconds by the kernel's defaults. And until
 * networkd has set what it holds of a NIC, which waits for that, too.
 */
const longPatienceMs = 15_000;
const pauseMs = 50;
/** How long a renamed NIC must stay as it is: udev sets names, MTU and more of a `.link` file after each rename. */
const quietMs = 500;
/** Changes made to what is seen to differ of a NIC: one for what an earlier one made possible, one for what others undid. */
const maxChanges = 3;

/** A NIC and the state it shall have. */
export interface Goal {
  readonly nic: RecordedNic;
  readonly want: NicState;
  /** Whether it has to be there; else one that is unplugged has all it can have when its rules are right. */
  readonly plugged?: boolean;
}

export interface Settled<G> extends Verdict<G> {
  /** The last look at the kernel. */
  readonly seen: KernelSnapshot;
}

interface Verdict<G> {
  /** What is wrong with a NIC, for those that did not get there. */
  readonly wrong: ReadonlyMap<G, string>;
  /** Of those, addresses that somebody else has. */
  readonly duplicate: ReadonlyMap<G, string>;
  /** What `alarm` said of the last look. */
  readonly alarm?: string;
}

export interface SettleOptions {
  /** A look at the kernel that was taken already. */
  readonly first?: KernelSnapshot;
  /** Names from before a rename that udev may still react to. */
  readonly renamedFrom?: readonly string[];
  /** MACs of NICs on which the network manager may still set what it holds of them. */
  readonly contested?: readonly string[];
  /** Why nothing may be changed any more, whatever the NICs are like. */
  readonly alarm?: (seen: KernelSnapshot) => string | undefined;
}

/** Returns the state of the NIC in a snapshot, or a refusal if two links have its MAC: either of them may be the NIC. */
export function stateOf(nic: RecordedNic, seen: KernelSnapshot): NicState | Refusal {
  const link = nic.rulesOnly ? undefined : onlyLink(seen, nic.mac);
  if (!link || !('reason' in link)) return presentState(seen, link, nic.belongings);
  return link.reason === 'WaitingForNIC' ? presentState(seen, undefined, nic.belongings) : link;
}

/** What is not yet as it shall be; a NIC that is unplugged has only its rules left. */
function differenceOf({ nic, want, plugged = false }: Goal, seen: KernelSnapshot): string {
  const now = stateOf(nic, seen);
  if ('reason' in now) return now.message;
  return nicDifference(now, plugged ? want : reachable(now, want));
}

function reachable(now: NicState, want: NicState): NicState {
  return now.link && want.link ? want : { rules: want.rules };
}

/**
 * Brings NICs from whatever state they are in to the wanted ones: looks, changes what differs, and looks again until
 * nothing does or patience is over. The first look is at once, as netlink changes show when the call returns; only what
 * others do to a link takes time.
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
    const look = judged(goals, seen, failures, options, context);
    const at = clock.monotonicMs();
    rightSince = look.right ? Math.min(rightSince, at) : Number.POSITIVE_INFINITY;
    const end = start + (look.busy ? longPatienceMs : patienceMs);
    if (at >= end || isQuiet(seen, options, at - rightSince)) return tolerant(look, seen);
    const open = look.improvable ? tries.left(look.wrong, seen, context) : [];
    if (open.length === 0) await clock.sleep(pauseMs);
    else await change(open, seen, tries, context, failures);
  }
}

/** How often each NIC was changed. */
class Tries<G extends Goal> {
  readonly #made = new Map<G, number>();

  /** Returns the goals that get another change now; a taken NIC gets none until it is free. */
  left(goals: ReadonlyMap<G, unknown>, seen: KernelSnapshot, context: Context): G[] {
    return [...goals.keys()].filter(
      (goal) =>
        (this.#made.get(goal) ?? 0) < maxChanges && !whyUntouchable(goal.nic, seen, context),
    );
  }

  /** Counts one more; tells which one it is. */
  next(goal: G): number {
    const made = (this.#made.get(goal) ?? 0) + 1;
    this.#made.set(goal, made);
    return made;
  }
}

interface Look<G> extends Verdict<G> {
  /** Whether nothing is wrong that can still become right, and nobody is about to change it. */
  readonly right: boolean;
  readonly improvable: boolean;
  /** Whether all that is wrong of links is that addresses are still being probed, or networkd is at work. */
  readonly busy: boolean;
}

/** What is wrong in the end: not what others have set as they want it. */
function tolerant<G extends Goal>(
  { wrong, ...rest }: Verdict<G>,
  seen: KernelSnapshot,
): Settled<G> {
  const left = [...wrong].filter(
    ([goal]) => differenceOf({ ...goal, want: withoutLasting(goal.want) }, seen) !== '',
  );
  return { ...rest, wrong: new Map(left), seen };
}

function judged<G extends Goal>(
  goals: readonly G[],
  seen: KernelSnapshot,
  failures: ReadonlyMap<G, string>,
  options: SettleOptions,
  context: Context,
): Look<G> {
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
  const hopeful = [...wrong.keys()].filter((goal) => !duplicate.has(goal));
  const others = hopeful.filter((goal) => !isOnlyProbed(goal, seen));
  // Rules of NICs that have left are nothing to give up a probe for.
  const probing = others.length < hopeful.length && others.every(({ nic }) => nic.rulesOnly);
  const busy = probing || isBusy(seen, options, context);
  const right = hopeful.length === 0 && !busy;
  return { wrong, duplicate, right, improvable: others.length > 0, busy };
}

/** The wanted addresses of which the probing is this far. */
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

/** Whether the NIC will be as wanted when nobody else turns out to have its addresses. */
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
 * udev is done with a rename when the old name is an alternative one, which it sets last; or nobody changes anything for a
 * while.
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

/** Whether networkd is at work on a NIC of which it may hold something else. */
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
      // Whatever the trouble was, the way through down is the one that every kernel allows.
      const options = { renameDown: tries.next(goal) > 1 };
      return [[goal, diffNic(now, reachable(now, goal.want), options)] as const];
    }),
  );
  const { failures } = await changeNics(changes, seen, context);
  for (const [goal, { message }] of failures) failed.set(goal, message);
}

/** Brings one NIC to the wanted state; resolves to what is wrong, if anything is. */
export async function convergeNic(
  nic: RecordedNic,
  want: NicState,
  context: Context,
): Promise<string | undefined> {
  const goal = { nic, want };
  return (await settle([goal], context)).wrong.get(goal);
}
