import { type Effect, effects } from '../../../src/api/effects.ts';

export type Part = 'operator' | 'viola' | 'controller' | 'agent';

/** One moment at which a part is killed; `id` is its name in every table. */
export interface KillPoint {
  readonly id: string;
  readonly part: Part;
  /** `NAME PHASE NUMBER`, or the number of the line within the agent's batch. */
  readonly at: string | number;
}

const phases = ['before', 'after'] as const;

/** How many changes the batch has that makes a NIC; a point behind its end is never hit, and says so. */
const batchLines = 8;

/** Of a host that NetworkManager manages, which that of a life is not: test/host/leased.test.ts kills agents there. */
const ofOtherHosts: ReadonlySet<Effect> = new Set(['agent.manager.release']);

/** Before and after each external write of the product, and before each operation of the batch that makes a NIC. */
export const killPoints: readonly KillPoint[] = [
  ...effects
    .filter((effect) => !ofOtherHosts.has(effect))
    .flatMap((effect) => phases.map((phase) => pointOf(effect, phase))),
  ...Array.from({ length: batchLines }, (_, n): KillPoint => {
    return { id: `agent.kernel.batch line ${n + 1}`, part: 'agent', at: n + 1 };
  }),
];

/** All points at which these parts can die. */
export function killPointsOf(...parts: readonly Part[]): readonly KillPoint[] {
  return killPoints.filter(({ part }) => parts.includes(part));
}

/** The points of these names; each has to be in the list. */
export function killPointsAt(...ids: readonly string[]): readonly KillPoint[] {
  return ids.map((id) => {
    const point = killPoints.find((each) => each.id === id);
    if (!point) throw new Error(`"${id}" is in no kill list`);
    return point;
  });
}

function pointOf(effect: Effect, phase: (typeof phases)[number]): KillPoint {
  const [part] = effect.split('.') as [Part];
  return { id: `${effect} ${phase}`, part, at: `${effect} ${phase} 1` };
}
