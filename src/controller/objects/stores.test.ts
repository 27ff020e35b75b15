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

/** How many objects are parsed meanwhile: each that is looked at. */
function looks(work: () => void): number {
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

describe('what every visit asks of all objects', () => {
  it('is counted, and no object is looked at for it', () => {
    const stores = fleet(100);
    const { foreign } = stores;
    const clock = createFakeClock(new Date());
    const { owns } = createOtherController({ takeOver: false, foreign, clock });
    const one = nodeConfig();
    const asked = looks(() => {
      expect(stores.leavingSince(new Date(deletionTimestamp))).toHaveLength(100);
      expect(stores.leavingSince(new Date('2026-01-01T00:00:01Z'))).toEqual([]);
      expect(stores.processed()).toBe(100);
      expect(owns(one)).toContain('the deployed controller wrote the status of n');
    });
    expect(asked).toBe(0);
  });

  it('is about those alone that nobody consented to, took over or processed', () => {
    const stores = createStores();
    const annotations = {
      'multinic.io/delete-consent': deletionTimestamp,
      'multinic.io/take-over': '',
    };
    const metadata = { deletionTimestamp, annotations, generation: 2 };
    stores.configs.upsert(nodeConfig({ metadata, status: { ...theirs, observedGeneration: 1 } }));
    expect(stores.leavingSince(new Date(deletionTimestamp))).toEqual([]);
    expect(stores.foreign()).toBeUndefined();
    expect(stores.processed()).toBe(0);
  });

  it.each(['yes', '2027-01-01T00:00:00Z!'])(
    '[C17] counts a deletion as one without consent when the consent is %s',
    (consent) => {
      const stores = createStores();
      const annotations = { 'multinic.io/delete-consent': consent };
      stores.configs.upsert(nodeConfig({ metadata: { deletionTimestamp, annotations } }));
      expect(stores.leavingSince(new Date(deletionTimestamp))).toHaveLength(1);
    },
  );
});

it('keeps objects as text, a quarter of the memory: each look at one reads it', () => {
  const { configs } = fleet(3);
  const [key = ''] = configs.keys();
  expect(looks(() => configs.get(key))).toBe(1);
  expect(looks(() => configs.list())).toBe(3);
});
