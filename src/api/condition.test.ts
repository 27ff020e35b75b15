import { describe, expect, it } from 'vitest';
import { condition, findCondition, setCondition, shortMessage } from './condition.ts';

const at = { now: new Date('2026-01-09T06:07:36.123Z'), generation: 3 };
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Synced',
  message: 'synced 1 node',
} as const;

describe('setCondition', () => {
  it('setCondition adds a condition with time and generation', () => {
    expect(setCondition([], ready, at)).toEqual([
      {
        ...ready,
        observedGeneration: 3,
        lastTransitionTime: '2026-01-09T06:07:36Z',
      },
    ]);
  });

  it('setCondition changes lastTransitionTime only when the status flips', () => {
    const before = setCondition([], ready, at);
    const later = { now: new Date('2026-01-09T07:00:00Z'), generation: 4 };
    const same = setCondition(before, { ...ready, reason: 'NoChange' }, later);
    expect(findCondition(same, 'Ready')).toMatchObject({
      reason: 'NoChange',
      observedGeneration: 4,
      lastTransitionTime: '2026-01-09T06:07:36Z',
    });
    const flipped = setCondition(same, { ...ready, status: 'False' }, later);
    expect(findCondition(flipped, 'Ready')?.lastTransitionTime).toBe('2026-01-09T07:00:00Z');
  });

  it('setCondition keeps other conditions and their order', () => {
    const list = setCondition(setCondition([], ready, at), { ...ready, type: 'Degraded' }, at);
    expect(setCondition(list, ready, at).map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
  });
});

describe('condition schema', () => {
  it("the condition schema accepts the legacy controller's conditions without message and time", () => {
    const deployed = { type: 'Ready', status: 'False', reason: 'JobFailed' };
    expect(condition.parse(deployed)).toEqual(deployed);
  });
});

it('a truncated message ends with a complete character', () => {
  const cut = shortMessage(`${'x'.repeat(1_023)}🔌`);
  expect([cut.length, cut.isWellFormed()]).toEqual([1_024, true]);
});
