import { expect, it } from 'vitest';
import type { NodePlan, Removal } from '../../plan/plan.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Doubts } from './pending-evidence.ts';

function node(instanceId: string, cause?: Removal['cause']): NodePlan {
  const removal = {
    name: 'multinic0',
    portId: 'p',
    macAddress: 'fa:16:3e:00:00:01',
    basis: 'sideEffect' as const,
  };
  const unconfirmed = cause === undefined ? [] : [{ ...removal, cause }];
  const removals = { confirmed: [], unconfirmed };
  const untouched = {
    action: 'none',
    base: null,
    interfaces: [],
    waiting: false,
    why: '',
  } as const;
  return { ...untouched, nodeName: instanceId, instanceId, removals };
}

function noted(doubts: Doubts, nodes: readonly NodePlan[], isTold = false): string[] {
  return [...doubts.noteAll('a/b', nodes, isTold)];
}

it('asks three times, and begins anew after an answer', async () => {
  const clock = createFakeClock();
  const doubts = new Doubts(clock);
  for (const pauseMs of [1_000, 2_000, 5_000]) {
    expect(noted(doubts, [node('s1', 'unconfirmed')])).toEqual(['s1']);
    expect(doubts.nextMs('a/b')).toBe(pauseMs);
    await clock.advance(pauseMs - 1);
    expect(doubts.due('a/b')).toEqual([]);
    await clock.advance(1);
    expect(doubts.due('a/b')).toEqual(['s1']);
  }
  expect(noted(doubts, [node('s1', 'unconfirmed')])).toEqual([]);
  expect(doubts.nextMs('a/b')).toBe(Number.POSITIVE_INFINITY);
  expect(noted(doubts, [node('s1')])).toEqual([]);
  expect(noted(doubts, [node('s1', 'unconfirmed')])).toEqual(['s1']);
});

it('is no more patient for being asked earlier', async () => {
  const clock = createFakeClock();
  const doubts = new Doubts(clock);
  noted(doubts, [node('s1', 'unconfirmed')]);
  await clock.advance(400);
  noted(doubts, [node('s1', 'unconfirmed')]);
  expect(doubts.nextMs('a/b')).toBe(600);
});

it('keeps what a look at other servers says nothing about', async () => {
  const clock = createFakeClock();
  const doubts = new Doubts(clock);
  doubts.noteSome('a/b', ['s1'], [node('s1', 'unconfirmed')]);
  doubts.noteSome('a/b', ['s2'], [node('s2')]);
  expect(doubts.nextMs('a/b')).toBe(1_000);
  doubts.forget('a/b');
  expect(doubts.nextMs('a/b')).toBe(Number.POSITIVE_INFINITY);
});

it('asks no more about a server that a look at all does not know', () => {
  const doubts = new Doubts(createFakeClock());
  noted(doubts, [node('s1', 'unconfirmed')]);
  noted(doubts, [node('s2')]);
  expect(doubts.nextMs('a/b')).toBe(Number.POSITIVE_INFINITY);
});

it('does not wait where waiting proves nothing, nor where it was told before', () => {
  const doubts = new Doubts(createFakeClock());
  expect(noted(doubts, [node('s1', 'noAddress'), node('s2', 'portGone')])).toEqual([]);
  expect(noted(doubts, [node('s1', 'unconfirmed')], true)).toEqual([]);
});

it('tells of many servers at once: no detached ports, but a cloud that cannot be believed', () => {
  const doubts = new Doubts(createFakeClock());
  const nodes = Array.from({ length: 11 }, (_, n) => node(`s${n}`, 'unconfirmed'));
  expect(noted(doubts, nodes.slice(1))).toHaveLength(10);
  doubts.forget('a/b');
  expect(noted(doubts, nodes)).toEqual([]);
});
