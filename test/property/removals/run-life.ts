import { actOf, weights } from './acts/all.ts';
import { undoOn } from './acts/edits.ts';
import { Life } from './life.ts';
import { lineOf, planOf } from './plan.ts';
import { settle } from './settle.ts';

/** Outcome of a life. */
export interface LifeResult {
  readonly seed: number;
  /** Violations; empty: the property holds. */
  readonly flaws: readonly string[];
  /** Acts until the end, or until the first violation. */
  readonly log: readonly string[];
  /** Number of NICs that left hosts. */
  readonly removed: number;
}

/** Lives through the plan of a seed; the first violation ends the life. */
export async function runLife(seed: number): Promise<LifeResult> {
  const plan = planOf(seed, weights);
  await using life = await Life.start(plan);
  for (const host of plan.hosts) await life.cluster.join(host);
  for (const host of plan.hosts) await undoOn(life, host);
  for (const host of plan.hosts) {
    await life.fixture.untilReady(host, 'True AllInterfacesConfigured');
  }
  const log: string[] = [];
  const result = () => ({ seed, flaws: life.flaws, log, removed: life.removed });
  for (const act of plan.acts) {
    life.backUp();
    log.push(lineOf(act));
    await actOf(act.name)(life, act);
    await life.pass(act.steps);
    if (life.flaws.length > 0) return result();
  }
  log.push('settle');
  life.flaws.push(...(await settle(life)));
  return result();
}

/** Returns a result as text: seed, violations and acts. */
export function textOf({ seed, flaws, log }: LifeResult): string {
  return [`seed ${seed}:`, ...flaws, ...log.map((line) => `  ${line}`)].join('\n');
}
