import { expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { contentOf } from './content.ts';
import type { DeliveredContext } from './delivery.ts';

const clock = createFakeClock();
const held = [{ nodeName: 'worker-1' }];
const delivery = { accepted: [], removed: [], stale: [], waiting: [], failures: [] };
const base = {
  object: { metadata: { name: 'osc', generation: 1 } },
  memory: { term: { clock, ledSince: 0 } },
  observed: { unreadable: [{ objectName: 'worker-2', message: 'spec: invalid' }] },
  planned: { plan: {}, input: { held } },
  rounds: { held, delivery },
};
const contextOf = (change: object) => ({ ...base, ...change }) as unknown as DeliveredContext;
const content = (change: object = {}) => contentOf(contextOf(change));
const delivering = (change: object) => ({
  rounds: { held, delivery: { ...delivery, ...change } },
});

it('contentOf returns the last content for an equal sync', () => {
  const first = content();
  const unreadable = structuredClone(base.observed.unreadable);
  expect(content({ observed: { unreadable } })).toBe(first);
});

it.each([
  ['plan', { planned: { plan: {}, input: { held } } }],
  ['generation', { object: { metadata: { name: 'osc', generation: 2 } } }],
  [
    'unreadable object',
    { observed: { unreadable: [{ objectName: 'worker-2', message: 'status: invalid' }] } },
  ],
  ['term', { memory: { term: { clock, ledSince: 0 } } }],
  ['accepted node', delivering({ accepted: [{ nodeName: 'worker-1' }] })],
  ['removed node', delivering({ removed: ['worker-1'] })],
  ['stale node', delivering({ stale: ['worker-1'] })],
  ['waiting node', delivering({ waiting: ['worker-1'] })],
  ['failure', delivering({ failures: [{ nodeName: 'worker-1' }] })],
  ['node that was read again', { rounds: { held: [...held], delivery } }],
])('contentOf returns a new content after a changed or additional %s', (_, change) => {
  const first = content();
  expect(content(change)).not.toBe(first);
});
