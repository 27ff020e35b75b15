import { expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { pollInterval } from '../../flow/schedule/poll-interval.ts';
import { nextScheduledAt } from '../../flow/triggers/next-sync.ts';
import { notReadyReasons } from '../../report/status/not-ready-reasons.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { ConfigMemories } from './config-memory.ts';
import { lastStatusWrite } from './latest-object.ts';

const object = (uid: string): ConfigObject => ({
  metadata: { namespace: 'team', name: 'osc', uid, generation: 1 },
});

function setUp() {
  const left: string[] = [];
  const shared = (name: string) => ({ leave: (key: string) => void left.push(`${name} ${key}`) });
  const memories = new ConfigMemories({
    clock: createFakeClock(),
    random: () => 0.5,
    clouds: [shared('views'), shared('broker')],
    others: [shared('plans')],
  });
  return { memories, left };
}

it("ConfigMemories keeps an object's memory until a new uid takes the object's name", () => {
  const { memories } = setUp();
  const first = memories.of(object('first'));
  expect(memories.of(object('first'))).toBe(first);
  const second = memories.of(object('second'));
  expect(second).not.toBe(first);
  expect(memories.find('team/osc')).toBe(second);
  expect([...memories]).toEqual([['team/osc', second]]);
});

it('a recreated OpenstackConfig is polled fast, like a new object', () => {
  const { memories } = setUp();
  const polling = { fastMs: 10_000, slowMs: 60_000, errorMs: 5_000, windowMs: 300_000 };
  const maxAgeMs = (of: ConfigObject) => {
    const interval = pollInterval.of(memories.of(of));
    interval.begin(of);
    return interval.maxAgeMs(polling);
  };
  expect(maxAgeMs({ ...object('first'), status: { observedGeneration: 1 } })).toBe(30_000);
  expect(maxAgeMs(object('second'))).toBe(5_000);
});

it('dropping an OpenstackConfig removes its memory and leaves all shared state', () => {
  const { memories, left } = setUp();
  const before = memories.of(object('first'));
  memories.leaveClouds('team/osc');
  expect(left).toEqual(['views team/osc', 'broker team/osc']);
  left.length = 0;
  memories.drop('team/osc');
  expect(left).toEqual(['views team/osc', 'broker team/osc', 'plans team/osc']);
  expect(memories.find('team/osc')).toBeUndefined();
  expect(memories.of(object('first'))).not.toBe(before);
});

it('a new leadership term resets only state shared with previous leaders', () => {
  const { memories } = setUp();
  const memory = memories.of(object('first'));
  lastStatusWrite.set(memory, { uid: 'first', resourceVersion: '7', status: {} });
  notReadyReasons.set(memory.term, new Set(['NameConflict']));
  nextScheduledAt.set(memory.term, new Date(0));
  memories.startTerm();
  expect(memories.of(object('first'))).toBe(memory);
  expect(lastStatusWrite.of(memory)?.resourceVersion).toBe('7');
  expect(notReadyReasons.of(memory.term)).toEqual(new Set());
  expect(nextScheduledAt.of(memory.term)).toBeUndefined();
});
