import { afterEach, beforeEach, expect, it } from 'vitest';
import { nothingHappened as nothing } from '../../../openstack/notifications/envelope.ts';
import { createFakeClock, type FakeClock } from '../../../time/fake-clock.ts';
import type { CloudEvent } from '../../flow/schedule/cloud-events.ts';
import { gatheredMs, mostRemembered, PendingEvents, wholeEveryMs } from './pending-events.ts';

let clock: FakeClock;
let passedOn: [number, CloudEvent][];
let stop: AbortController;
let pending: PendingEvents;

beforeEach(() => {
  clock = createFakeClock();
  passedOn = [];
  stop = new AbortController();
  pending = new PendingEvents(clock, stop.signal, (event) =>
    passedOn.push([clock.monotonicMs(), event]),
  );
});

afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  expect(clock.waits).toEqual([]);
});

it('messages within 300 ms become one event without duplicate ids', async () => {
  pending.add({ ...nothing, servers: ['a'] });
  await clock.advance(gatheredMs - 1);
  pending.add({ ...nothing, servers: ['a', 'b'], ports: ['p'] });
  expect(passedOn).toEqual([]);
  await clock.advance(1);
  expect(passedOn).toEqual([[300, { ...nothing, servers: ['a', 'b'], ports: ['p'] }]]);
  await clock.advance(60_000);
  expect(passedOn).toHaveLength(1);
});

it('a whole-cloud event is passed on at once, and the next 10 seconds later', async () => {
  pending.add({ ...nothing, whole: true });
  await clock.advance(gatheredMs);
  for (let n = 0; n < 20; n++) {
    pending.add({ ...nothing, whole: true });
    await clock.advance(1_000);
  }
  expect(passedOn.map(([at]) => at)).toEqual([300, 300 + wholeEveryMs, 300 + 2 * wholeEveryMs]);
});

it("a single server's event does not wait for a whole-cloud event", async () => {
  pending.add({ ...nothing, whole: true });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, whole: true, ports: ['p'] });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, servers: ['a'] });
  await clock.advance(gatheredMs);
  expect(passedOn.slice(1)).toEqual([
    [600, { ...nothing, ports: ['p'] }],
    [900, { ...nothing, servers: ['a'] }],
  ]);
  await clock.advance(wholeEveryMs);
  expect(passedOn.at(-1)).toEqual([10_300, { ...nothing, whole: true }]);
});

it('network events are passed on as rarely as whole-cloud events', async () => {
  pending.add({ ...nothing, networks: ['n'] });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, networks: ['m'] });
  await clock.advance(wholeEveryMs);
  expect(passedOn).toEqual([
    [300, { ...nothing, networks: ['n'] }],
    [10_300, { ...nothing, networks: ['m'] }],
  ]);
});

it('more than 1,000 ids become a whole-cloud event', async () => {
  const names = Array.from({ length: mostRemembered }, (_, n) => `s${n}`);
  pending.add({ ...nothing, servers: names });
  await clock.advance(gatheredMs);
  expect(passedOn[0]?.[1].servers).toHaveLength(mostRemembered);
  pending.add({ ...nothing, servers: names.slice(1), ports: ['p', 'q'] });
  await clock.advance(gatheredMs);
  expect(passedOn[1]).toEqual([600, { ...nothing, whole: true }]);
});

it('a flood of messages takes 1,000 ids and one timer', async () => {
  for (let n = 0; n < 100_000; n++) pending.add({ ...nothing, servers: [`s${n}`] });
  expect(clock.waits).toEqual([gatheredMs]);
  await clock.advance(gatheredMs);
  expect(passedOn).toHaveLength(1);
  expect(passedOn[0]?.[1]).toMatchObject({ whole: true });
  expect(passedOn[0]?.[1].servers.length).toBeLessThanOrEqual(mostRemembered);
});

it('a steady stream of messages does not delay an event', async () => {
  for (let ms = 0; ms < 3_000; ms += 10) {
    pending.add({ ...nothing, servers: [`s${ms}`] });
    await clock.advance(10);
  }
  expect(passedOn.map(([at]) => at)).toEqual(Array.from({ length: 10 }, (_, n) => (n + 1) * 300));
});

it('no event is passed on without ids, or after the end', async () => {
  pending.add(nothing);
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, servers: ['a'] });
  stop.abort();
  await clock.advance(gatheredMs);
  expect(passedOn).toEqual([]);
});

it('project and account events are passed on at once, and the next 10 seconds later', async () => {
  for (let n = 0; n < 20; n++) {
    pending.add({ ...nothing, servers: [`s${n}`], projects: ['a', 'b'], accounts: ['u'] });
    await clock.advance(1_000);
  }
  const of = passedOn.filter(([, { projects }]) => projects.length > 0);
  expect(of.map(([at, { projects, accounts }]) => [at, projects, accounts])).toEqual([
    [300, ['a', 'b'], ['u']],
    [300 + wholeEveryMs, ['a', 'b'], ['u']],
  ]);
  expect(passedOn.flatMap(([, { servers }]) => servers)).toHaveLength(20);
  await clock.advance(wholeEveryMs);
});
