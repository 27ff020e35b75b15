import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { configMaps } from '../core-resources.ts';
import type { KubeObject } from '../object.ts';
import { type Fault, FlakyCollection } from '../testing/flaky-collection.ts';
import { createReflector } from './reflector.ts';
import { Store } from './store.ts';

const name = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), name }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 8_000 }) }),
);
const fault = fc.constantFrom<Fault>(
  'none',
  'refuse',
  'gone',
  'goneInside',
  'drop',
  'end',
  'replay',
  'omit',
  'silence',
);

test('store and listeners end up equal to the server after any sequence of faults', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 25 }),
      fc.array(fault, { maxLength: 12 }),
      async (steps, faults) => {
        const clock = createFakeClock();
        const collection = new FlakyCollection(clock, faults);
        const store = new Store<KubeObject>();
        const received = new Map<string, string | undefined>();
        store.subscribe(({ type, key, object }) => {
          if (type === 'added') expect(received.has(key)).toBe(false);
          else expect(received.has(key)).toBe(true);
          if (type === 'deleted') received.delete(key);
          else received.set(key, object.metadata.resourceVersion);
        });
        const client = collection.client();
        const errors: unknown[] = [];
        const reflector = createReflector<KubeObject>({
          client,
          resource: configMaps,
          store,
          clock,
          random: () => 0.5,
          onError: (error) => errors.push(error),
        });
        const stop = new AbortController();
        const running = reflector.run(stop.signal);
        for (const each of steps) {
          if (each.kind === 'advance') await clock.advance(each.ms);
          else collection[each.kind](each.name);
        }
        collection.heal();
        // Longer than the longest pause; after an omitted event, longer than the relist interval.
        await clock.advance(faults.includes('omit') ? 700_000 : 65_000);
        const stored = new Map(
          store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
        );
        expect(stored).toEqual(collection.state);
        expect(received).toEqual(collection.state);
        expect(errors.filter((error) => error instanceof AggregateError)).toEqual([]);
        stop.abort();
        await running;
      },
    ),
    { numRuns: 60 },
  );
});
