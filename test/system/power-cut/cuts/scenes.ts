import type { GuestProfile } from '../../../../rig/hosts/guest/guest.ts';
import { entry, macOf, request } from '../../../fixtures/agent-samples.ts';
import { type Life, lives } from '../../../property/disk-faults/lives.ts';

/** Scenes with a power cut. */
export interface GuestLife {
  readonly family: GuestProfile;
  readonly life: Life;
}

/** NICs by slot. */
export const plugged = { 5: macOf(1), 6: macOf(2), 7: macOf(3) };

const first: Life = {
  name: 'first NIC added',
  before: [],
  asked: request([entry(1, { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fd00::fe' })], {
    protocol: 3,
  }),
};
const changed = lives.filter(({ name }) => name === 'changed');
const families: readonly GuestProfile[] = ['netplan', 'keyfile', 'networkd', 'ifcfg'];

export const scenes: readonly GuestLife[] = families.flatMap((family) =>
  [first, ...changed].map((life) => ({ family, life })),
);

/** How many cuts are made at random. */
export function randomCuts({ family }: GuestLife): number {
  return family === 'netplan' || family === 'keyfile' ? 30 : 10;
}

export function titleOf({ family, life }: GuestLife): string {
  return `${family}, ${life.name}`;
}
