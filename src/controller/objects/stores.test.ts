import { describe, expect, it } from 'vitest';
import { nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createOtherController } from '../watch/legacy-controller.ts';
import { createStores } from './stores.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const theirs = {
  state: 'Configured',
  conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }],
} as const;

function fleet(size: number) {
  const stores = createStores();
  for (let n = 0; n < size; n++) {
    const metadata = { name: `n${n}`, uid: `uid-${n}`, deletionTimestamp };
    stores.configs.upsert(nodeConfig({ metadata, status: { ...theirs, observedGeneration: 1 } }));
  }
  return stores;
}

/** Returns the number of JSON.parse calls during `work`: one per object read. */
function parses(work: () => void): number {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (text: string) => {
    count += 1;
    return parse(text) as unknown;
  };
  try {
    work();
  } finally {
    JSON.parse = parse;
  }
  return count;
}

describe('queries over all objects', () => {
  it('queries over all objects use indexes and parse no object', () => {
    const stores = fleet(100);
    const { foreign } = stores;
    const clock = createFakeClock(new Date());
    const { owns } = createOtherController({ takeOver: false, foreign, clock });
    const one = nodeConfig();
    const parsed = parses(() => {
      expect(stores.processed()).toBe(100);
      expect(owns(one)).toContain('the legacy controller wrote the status of n');
    });
    expect(parsed).toBe(0);
  });

  it('foreign and processed skip objects with a take-over annotation or a stale status', () => {
    const stores = createStores();
    const annotations = { 'multinic.io/take-over': '' };
    const metadata = { deletionTimestamp, annotations, generation: 2 };
    stores.configs.upsert(nodeConfig({ metadata, status: { ...theirs, observedGeneration: 1 } }));
    expect(stores.foreign()).toBeUndefined();
    expect(stores.processed()).toBe(0);
  });
});

it('the config store keeps objects as text and parses on each read', () => {
  const { configs } = fleet(3);
  const [key = ''] = configs.keys();
  expect(parses(() => configs.get(key))).toBe(1);
  expect(parses(() => configs.list())).toBe(3);
});
