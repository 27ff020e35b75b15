import type { Random } from '../../../src/time/clock.ts';
import { randomOf } from '../leaders/contest.ts';
import { allServers, Life } from './life.ts';

/** Outcome of a life. */
export interface LifeResult {
  readonly seed: number;
  /** Violations; empty: the property holds. */
  readonly flaws: readonly string[];
  /** Acts until the end, or until the first violation. */
  readonly log: readonly string[];
  /** Number of deleted nodes. */
  readonly removed: number;
}

type Act = (life: Life, random: Random) => unknown;

const subsets = [allServers, allServers.slice(0, 1), [], undefined];

function strangerAct(kind: 'namesake' | 'thief'): Act {
  return (life, random) => {
    life.furnishThief();
    life.stranger(kind, subsets[Math.floor(random() * subsets.length)]);
  };
}

const acts: Readonly<Record<string, Act>> = {
  createThenPrune: (life) => life.rename(false, 'multinic-system'),
  pruneThenCreate: (life) => life.rename(true, 'multinic-system'),
  renameIntoNamespace: (life, random) => life.rename(random() < 0.5, 'team-a'),
  restart: (life, random) => (random() < 0.5 ? life.scene : life.second).restart(),
  replacePort: (life, random) => life.replacePort(Math.floor(random() * 4)),
  replaceTwoPorts: (life) => {
    life.replacePort(0);
    life.replacePort(1);
  },
  moveKeystone: (life, random) => {
    life.scene.cloud.host = `keystone-${Math.floor(random() * 3)}.test:443`;
    life.second.cloud.host = life.scene.cloud.host;
  },
  secondId: (life, random) => life.edit({ k8sProviderID: random() < 0.5 ? 'biz-1' : 'biz-2' }),
  allowRemovals: (life) => {
    life.scene.kube.annotate({
      'multinic.io/allow-removals': life.scene.clock.now().toISOString(),
    });
  },
  namesake: strangerAct('namesake'),
  namesakeAgain: strangerAct('namesake'),
  thief: strangerAct('thief'),
  thiefAgain: strangerAct('thief'),
  wait: (life, random) => life.syncAll(random() * 600_000),
};

/** Lives through random acts; the first violation ends the life. */
export async function runLife(seed: number): Promise<LifeResult> {
  const random = randomOf(seed * 7919);
  // Neighbouring seeds give similar first numbers.
  for (let n = 0; n < 20; n++) random();
  await using life = await Life.start();
  const log: string[] = [];
  const result = () => ({ seed, flaws: life.flaws, log, removed: life.removed });
  const count = 6 + Math.floor(10 * random());
  for (let n = 0; n < count; n++) {
    const [name, act] = pick(Object.entries(acts), random);
    log.push(name);
    await act(life, random);
    await life.syncAll(random() < 0.5 ? 1_000 : 60_000);
    if (life.flaws.length > 0) return result();
  }
  log.push('settle');
  await life.settle();
  return result();
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)] as T;
}

/** Returns a result as text: seed, violations and acts. */
export function textOf({ seed, flaws, log }: LifeResult): string {
  return [`seed ${seed}:`, ...flaws, ...log.map((line) => `  ${line}`)].join('\n');
}
