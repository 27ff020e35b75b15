import type { Host } from '../host.ts';
import { observeLinks } from '../observe/host.ts';
import { type DiffOptions, diffNic } from '../planning/diff.ts';
import { linksWithMac } from '../planning/links.ts';
import { type NicState, nicDifference } from '../planning/nic-state.ts';
import { type KnownNic, presentState } from '../planning/present-state.ts';
import { changeKernel } from './kernel.ts';
import { lookUntil } from './look.ts';
import type { Workshop } from './workshop.ts';

/** The state the NIC has in what was seen of the host. */
export function stateOf(nic: KnownNic, seen: Omit<Host, 'files'>): NicState {
  return presentState(seen, linksWithMac(seen, nic.mac)[0], nic.belongings);
}

/**
 * Brings a NIC from whatever state it is in to the wanted one and looks whether it got there; resolves to what is wrong,
 * if anything is. A NIC that is gone has only its rules left to bring.
 */
export async function bringNic(
  nic: KnownNic,
  want: NicState,
  workshop: Workshop,
): Promise<string | undefined> {
  const first = await change(nic, want, workshop, {});
  // Whatever the trouble was, the way through down is the one that every kernel allows.
  const second = first && (await change(nic, want, workshop, { renameDown: true }));
  const seen = await lookUntil(
    () => missing(nic, want, workshop),
    (difference) => difference === '',
    workshop.clock,
  );
  if (seen === '') return undefined;
  return second ? `${seen} (${second})` : seen;
}

async function change(nic: KnownNic, want: NicState, workshop: Workshop, options: DiffOptions) {
  const now = await stateNow(nic, workshop);
  const changes = new Map([[nic, diffNic(now, goal(now, want), options)]]);
  return (await changeKernel(changes, workshop.kernel)).failures.get(nic)?.message;
}

async function missing(nic: KnownNic, want: NicState, workshop: Workshop): Promise<string> {
  const now = await stateNow(nic, workshop);
  return nicDifference(now, goal(now, want));
}

async function stateNow(nic: KnownNic, { view, macs }: Workshop): Promise<NicState> {
  return stateOf(nic, await observeLinks(view, macs));
}

function goal(now: NicState, want: NicState): NicState {
  return now.link && want.link ? want : { rules: want.rules };
}
