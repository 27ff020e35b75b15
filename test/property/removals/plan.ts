import type { Random } from '../../../src/time/clock.ts';
import { randomOf } from '../leaders/contest.ts';

/** One act in a life, with all its random choices: acts draw no numbers, so a plan depends on its seed only. */
export interface PlannedAct {
  readonly name: string;
  /** Hosts of the act, at least two; an act about one host takes the first. */
  readonly hosts: readonly string[];
  /** Random number from 0 to 1 that selects a variant. */
  readonly variant: number;
  /** Random number from 0 to 1 for times, counts and positions. */
  readonly amount: number;
  /** Steps of fake time after the act. */
  readonly steps: number;
}

export interface Plan {
  readonly hosts: readonly string[];
  /** Number of NICs on each host at the beginning. */
  readonly nics: ReadonlyMap<string, number>;
  readonly acts: readonly PlannedAct[];
}

/** Fleets of this size have limits above the constants: 4 nodes, and 10 NICs on them. */
const largeFleet = 20;

/** Returns the plan for a seed. `weights`: relative frequency of each act. */
export function planOf(seed: number, weights: Readonly<Record<string, number>>): Plan {
  const random = randomOf(seed * 7919);
  // Neighbouring seeds give similar first numbers.
  for (let n = 0; n < 20; n++) random();
  const size = random() < 0.15 ? largeFleet : 6 + Math.floor(5 * random());
  const hosts = Array.from({ length: size }, (_, n) => String.fromCodePoint(97 + n));
  const nics = new Map(hosts.map((host) => [host, 1 + Math.floor(3 * random())]));
  const count = 8 + Math.floor(13 * random());
  const acts = Array.from({ length: count }, () => ({
    name: chosen(random, weights),
    hosts: someOf(random, hosts),
    variant: random(),
    amount: random(),
    steps: random() < 0.3 ? Math.floor(4 * random()) : Math.floor(50 * random()),
  }));
  return { hosts, nics, acts };
}

function chosen(random: Random, weights: Readonly<Record<string, number>>): string {
  const entries = Object.entries(weights);
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    left -= weight;
    if (left < 0) return name;
  }
  return entries[0]?.[0] ?? '';
}

/** Returns mostly two to four hosts, seldom all, in random order. */
function someOf(random: Random, hosts: readonly string[]): readonly string[] {
  const share = random();
  const count = share < 0.2 ? hosts.length : 2 + Math.floor(3 * random());
  return hosts
    .map((host) => ({ host, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ host }) => host);
}

/** Returns an act as a line of the log. */
export function lineOf({ name, hosts, variant, amount, steps }: PlannedAct): string {
  return `${name} ${hosts.join('')} ${variant.toFixed(2)} ${amount.toFixed(2)}, ${steps / 10} s`;
}
