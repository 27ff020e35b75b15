import { afterEach, beforeEach, expect, it } from 'vitest';
import { nothingHappened as nothing } from '../../openstack/notifications/envelope.ts';
import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import type { CloudEvent } from '../schedule/cloud-events.ts';
import { gatheredMs, mostRemembered, PendingEvents, wholeEveryMs } from './pending-events.ts';

let clock: FakeClock;
let told: [number, CloudEvent][];
let stop: AbortController;
let pending: PendingEvents;

beforeEach(() => {
  clock = createFakeClock();
  told = [];
  stop = new AbortController();
  pending = new PendingEvents(clock, stop.signal, (event) =>
    told.push([clock.monotonicMs(), event]),
  );
});

afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  expect(clock.waits).toEqual([]);
});

it('hands on once what comes within a moment, each id once', async () => {
  pending.add({ ...nothing, servers: ['a'] });
  await clock.advance(gatheredMs - 1);
  pending.add({ ...nothing, servers: ['a', 'b'], ports: ['p'] });
  expect(told).toEqual([]);
  await clock.advance(1);
  expect(told).toEqual([[300, { ...nothing, servers: ['a', 'b'], ports: ['p'] }]]);
  await clock.advance(60_000);
  expect(told).toHaveLength(1);
});

it('asks for a look at everything at once, and not again before some seconds have passed', async () => {
  pending.add({ ...nothing, whole: true });
  await clock.advance(gatheredMs);
  for (let n = 0; n < 20; n++) {
    pending.add({ ...nothing, whole: true });
    await clock.advance(1_000);
  }
  expect(told.map(([at]) => at)).toEqual([300, 300 + wholeEveryMs, 300 + 2 * wholeEveryMs]);
});

it('holds nothing else up for a look at everything that has to wait', async () => {
  pending.add({ ...nothing, whole: true });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, whole: true, ports: ['p'] });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, servers: ['a'] });
  await clock.advance(gatheredMs);
  expect(told.slice(1)).toEqual([
    [600, { ...nothing, ports: ['p'] }],
    [900, { ...nothing, servers: ['a'] }],
  ]);
  await clock.advance(wholeEveryMs);
  expect(told.at(-1)).toEqual([10_300, { ...nothing, whole: true }]);
});

it('asks about networks no more often than for everything', async () => {
  pending.add({ ...nothing, networks: ['n'] });
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, networks: ['m'] });
  await clock.advance(wholeEveryMs);
  expect(told).toEqual([
    [300, { ...nothing, networks: ['n'] }],
    [10_300, { ...nothing, networks: ['m'] }],
  ]);
});

it('remembers no more than it may: of too many it asks for everything', async () => {
  const names = Array.from({ length: mostRemembered }, (_, n) => `s${n}`);
  pending.add({ ...nothing, servers: names });
  await clock.advance(gatheredMs);
  expect(told[0]?.[1].servers).toHaveLength(mostRemembered);
  pending.add({ ...nothing, servers: names.slice(1), ports: ['p', 'q'] });
  await clock.advance(gatheredMs);
  expect(told[1]).toEqual([600, { ...nothing, whole: true }]);
});

it('holds a thousand ids and one timer, however much is said at once', async () => {
  for (let n = 0; n < 100_000; n++) pending.add({ ...nothing, servers: [`s${n}`] });
  expect(clock.waits).toEqual([gatheredMs]);
  await clock.advance(gatheredMs);
  expect(told).toHaveLength(1);
  expect(told[0]?.[1]).toMatchObject({ whole: true });
  expect(told[0]?.[1].servers.length).toBeLessThanOrEqual(mostRemembered);
});

it('is not put off by what is said all the time', async () => {
  for (let ms = 0; ms < 3_000; ms += 10) {
    pending.add({ ...nothing, servers: [`s${ms}`] });
    await clock.advance(10);
  }
  expect(told.map(([at]) => at)).toEqual(Array.from({ length: 10 }, (_, n) => (n + 1) * 300));
});

it('asks for nothing when nothing was said, or nobody is left', async () => {
  pending.add(nothing);
  await clock.advance(gatheredMs);
  pending.add({ ...nothing, servers: ['a'] });
  stop.abort();
  await clock.advance(gatheredMs);
  expect(told).toEqual([]);
});

it('tells of new servers and lost accounts at once, and of more of them not before some seconds have passed', async () => {
  for (let n = 0; n < 20; n++) {
    pending.add({ ...nothing, servers: [`s${n}`], projects: ['a', 'b'], accounts: ['u'] });
    await clock.advance(1_000);
  }
  const of = told.filter(([, { projects }]) => projects.length > 0);
  expect(of.map(([at, { projects, accounts }]) => [at, projects, accounts])).toEqual([
    [300, ['a', 'b'], ['u']],
    [300 + wholeEveryMs, ['a', 'b'], ['u']],
  ]);
  expect(told.flatMap(([, { servers }]) => servers)).toHaveLength(20);
  await clock.advance(wholeEveryMs);
});
