import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endure, type Outage, type Report } from './outage.ts';
import { type Place, settle } from './place.ts';
import { printTable } from './table.ts';
import { UnaffectedWorker } from './unaffected-worker.ts';

/** Something that is going to be out for one worker. */
export interface Plan extends Omit<Outage, 'place' | 'others'> {
  readonly place: Place;
}

/** Where outages happen side by side, and a worker that none of them concerns. */
export interface Scene {
  readonly plans: readonly Plan[];
  readonly calm: Place;
}

/** Lets everything be out at once, in scenes that the stack takes down; `names` say what and in which form. */
export function outageSuite(
  title: string,
  names: readonly string[],
  open: (stack: AsyncDisposableStack) => Promise<readonly Scene[]>,
): void {
  const stack = new AsyncDisposableStack();
  const reports = new Map<string, Promise<Report>>();

  beforeAll(async () => {
    const scenes = await open(stack);
    await Promise.all(scenes.map((scene) => play(scene)));
  });

  async function play({ plans, calm }: Scene): Promise<void> {
    const [quiet, ...places] = await Promise.all(
      [calm, ...plans.map(({ place }) => place)].map((place) => settle(place)),
    );
    if (!quiet) return;
    const others = stack.use(new UnaffectedWorker(quiet));
    for (const [i, place] of places.entries()) {
      const plan = plans[i] as Plan;
      const report = endure({ ...plan, place, others });
      report.catch(() => undefined); // told by the test of this name
      reports.set(`${plan.what} ${plan.form}`, report);
    }
  }

  afterAll(async () => {
    const ended = await Promise.allSettled(reports.values());
    const seen = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    printTable(title, seen);
    await stack.disposeAsync();
  });

  describe(`${title}, out for a minute`, () => {
    it.each(names)('%s', async (name) => {
      const report = await reports.get(name);
      expect(report?.losses).toEqual([]);
      // Two seconds each on a calm machine; who waits for what hangs comes to two or three.
      expect(report?.othersMs.length).toBeGreaterThanOrEqual(8);
    });
  });
}
