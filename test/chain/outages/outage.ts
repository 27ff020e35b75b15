import { expect, vi } from 'vitest';
import { systemClock as clock } from '../../../src/time/clock.ts';
import type { EndState } from '../../fixtures/end-state.ts';
import { scaled } from '../../speed.ts';
import { endStateOf, nodeConfigOf, untilConfigured } from '../waits.ts';
import { type Form, forms } from './forms.ts';
import { LossRecorder } from './loss-recorder.ts';
import { plug, type Settled, unplug } from './place.ts';
import type { UnaffectedWorker } from './unaffected-worker.ts';

/** How long something is out at least. */
const outageMs = 60_000;

/**
 * How often what is out is tried to be reached before it comes back. Who was cut off in the middle of a request is not seen
 * to have tried, and a database that failed is left alone for half a minute: a minute may have one attempt in it.
 */
const fewestAttempts = 2;

/** After failures in a row the next look may be a minute away. */
const patience = { timeout: scaled(180_000), interval: 200 };

export interface Outage {
  /** What is out. */
  readonly what: string;
  readonly form: Form;
  readonly place: Settled;
  /** Whether the change waits for what is out. */
  readonly waits: boolean;
  /** Resolves when the change has come to where what is out is needed next; missing: it is out before the change begins. */
  readonly midway?: ((place: Settled) => Promise<unknown>) | undefined;
  readonly others: UnaffectedWorker;
}

/** What became of an outage. */
export interface Report {
  readonly what: string;
  readonly form: string;
  /** How often what was out was tried to be reached, on each way to it: twice at least. */
  readonly attempts: readonly number[];
  readonly losses: readonly string[];
  /** How long each change of another worker took that began and ended meanwhile. */
  readonly othersMs: readonly number[];
  /** When the change came to the host. */
  readonly delivered: 'during' | 'after';
  /** From the end of the outage until all is as after a clean run. */
  readonly caughtUpMs: number;
}

/** Lives through a minute in which something is out in the middle of a change; afterwards the place is as it was. */
export async function endure({
  what,
  form,
  place,
  waits,
  midway,
  others,
}: Outage): Promise<Report> {
  const { world, worker, port, clean } = place;
  await using after = new AsyncDisposableStack();
  const losses = after.use(await LossRecorder.watch(place));
  if (midway) {
    await plug(place, port);
    await midway(place);
  }
  const from = clock.monotonicMs();
  for (const proxy of place.proxies) proxy.add(forms[form]);
  if (!midway) await plug(place, port);
  if (!waits) await untilConfigured(world, worker, 'multinic0', 'multinic1');
  await clock.sleep(outageMs - (clock.monotonicMs() - from));

  const attempts = await vi.waitFor(() => attemptsAt(place), patience);
  expect(isConfigured(place)).toBe(!waits);
  const to = clock.monotonicMs();
  for (const proxy of place.proxies) proxy.clear();
  await untilStateIs(place, clean.two);
  const caughtUpMs = clock.monotonicMs() - to;
  await after.disposeAsync();

  await unplug(place, port);
  await untilStateIs(place, clean.one);
  return {
    what,
    form,
    attempts,
    losses: losses.lines,
    othersMs: others.within(from, to).map((each) => each.to - each.from),
    delivered: waits ? 'after' : 'during',
    caughtUpMs,
  };
}

function attemptsAt({ proxies }: Settled): readonly number[] {
  const attempts = proxies.flatMap(({ rules }) => rules.map(({ met }) => met));
  expect(Math.min(...attempts)).toBeGreaterThanOrEqual(fewestAttempts);
  return attempts;
}

function isConfigured({ world, worker, port }: Settled): boolean {
  const nics = nodeConfigOf(world, worker)?.status?.interfaceStatuses ?? [];
  return nics.some(({ portId, status }) => portId === port.id && status === 'Configured');
}

async function untilStateIs({ world, worker }: Settled, wanted: EndState): Promise<void> {
  await vi.waitFor(async () => expect(await endStateOf(world, worker)).toEqual(wanted), patience);
}
