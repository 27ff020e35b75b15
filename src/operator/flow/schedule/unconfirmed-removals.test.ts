import { expect, it } from 'vitest';
import type { NodePlan, Removal } from '../../../plan/plan.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { UnconfirmedRemovals } from './unconfirmed-removals.ts';

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

function noted(removals: UnconfirmedRemovals, nodes: readonly NodePlan[], isReported = false) {
  return [...removals.noteAll(nodes, isReported)];
}

it('an unconfirmed removal is retried three times, and again after a confirmation', async () => {
  const clock = createFakeClock();
  const removals = new UnconfirmedRemovals(clock);
  for (const pauseMs of [1_000, 2_000, 5_000]) {
    expect(noted(removals, [node('s1', 'unconfirmed')])).toEqual(['s1']);
    expect(removals.nextMs()).toBe(pauseMs);
    await clock.advance(pauseMs - 1);
    expect(removals.due()).toEqual([]);
    await clock.advance(1);
    expect(removals.due()).toEqual(['s1']);
  }
  expect(noted(removals, [node('s1', 'unconfirmed')])).toEqual([]);
  expect(removals.nextMs()).toBe(Number.POSITIVE_INFINITY);
  expect(noted(removals, [node('s1')])).toEqual([]);
  expect(noted(removals, [node('s1', 'unconfirmed')])).toEqual(['s1']);
});

it('a sync before the retry does not defer the retry', async () => {
  const clock = createFakeClock();
  const removals = new UnconfirmedRemovals(clock);
  noted(removals, [node('s1', 'unconfirmed')]);
  await clock.advance(400);
  noted(removals, [node('s1', 'unconfirmed')]);
  expect(removals.nextMs()).toBe(600);
});

it('a pending retry stays when a partial sync covers other servers', async () => {
  const clock = createFakeClock();
  const removals = new UnconfirmedRemovals(clock);
  removals.noteSome(['s1'], [node('s1', 'unconfirmed')]);
  removals.noteSome(['s2'], [node('s2')]);
  expect(removals.nextMs()).toBe(1_000);
});

it('a retry ends when a sync of all servers has no node for its server', () => {
  const removals = new UnconfirmedRemovals(createFakeClock());
  noted(removals, [node('s1', 'unconfirmed')]);
  noted(removals, [node('s2')]);
  expect(removals.nextMs()).toBe(Number.POSITIVE_INFINITY);
});

it('a removal is reported immediately when a retry cannot confirm the removal, or when the status already reports the removal', () => {
  const removals = new UnconfirmedRemovals(createFakeClock());
  expect(noted(removals, [node('s1', 'noAddress'), node('s2', 'portGone')])).toEqual([]);
  expect(noted(removals, [node('s1', 'unconfirmed')], true)).toEqual([]);
});

it('unconfirmed removals on more than 10 servers are reported immediately', () => {
  const clock = createFakeClock();
  const nodes = Array.from({ length: 11 }, (_, n) => node(`s${n}`, 'unconfirmed'));
  expect(noted(new UnconfirmedRemovals(clock), nodes.slice(1))).toHaveLength(10);
  expect(noted(new UnconfirmedRemovals(clock), nodes)).toEqual([]);
});
