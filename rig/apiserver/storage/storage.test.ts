import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { type Change, Storage } from './storage.ts';

function object(name: string, value: number): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'n' }, value };
}

const steps = fc.array(
  fc.tuple(fc.constantFrom('put', 'remove'), fc.constantFrom('a', 'b', 'c'), fc.nat()),
  { maxLength: 30 },
);

function play(storage: Storage, history: readonly (readonly [string, string, number])[]): void {
  for (const [step, name, value] of history) {
    if (step === 'put') storage.put('maps', object(name, value));
    else storage.remove('maps', `n/${name}`);
  }
}

describe('Storage', () => {
  it('shows any past state as it was then', () => {
    fc.assert(
      fc.property(steps, steps, (before, after) => {
        const storage = new Storage(1000);
        play(storage, before);
        const seen = storage.list('maps');
        const { revision } = storage;
        play(storage, after);
        expect(storage.listAt('maps', revision)).toEqual(seen);
      }),
    );
  });

  it('tells a listener the same changes as it later replays, one revision each', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const storage = new Storage(1000);
        const { revision } = storage;
        const heard: Change[] = [];
        storage.subscribe((change) => heard.push(change));
        play(storage, history);
        expect(storage.since(revision)).toEqual(heard);
        expect(heard.map((change) => change.revision)).toEqual(
          heard.map((_, i) => revision + 1 + i),
        );
      }),
    );
  });

  it('forgets the oldest changes when it has kept enough, and everything when compacted', () => {
    const storage = new Storage(10);
    const { revision } = storage;
    for (let i = 0; i < 100; i++) storage.put('maps', object('a', i));
    expect(storage.since(revision)).toBeUndefined();
    expect(storage.since(storage.revision - 10)).toHaveLength(10);
    storage.compact();
    expect(storage.since(storage.revision - 1)).toBeUndefined();
    expect(storage.since(storage.revision)).toEqual([]);
  });
});
