import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { createStores, type NodeConfig, readNodeConfig } from '../objects/stores.ts';
import { createBudget } from './budget.ts';
import type { LedgerEntry } from './ledger-buckets.ts';

const clock = createFakeClock();
const uid = '00000000-1111-4222-8333-444444444444';
let version = 0;

/** An object with 2 NICs on its node; `isEmpty`: the spec lists none. */
function object(n: number, isEmpty: boolean): NodeConfig {
  version += 1;
  const name = `node-${n}`;
  const macs = ['0a', '0b'].map((end) => `fa:16:3e:00:${String(n).padStart(2, '0')}:${end}`);
  const at = clock.now().toISOString();
  const run = { action: 'apply', content: 'c', job: 'j', attempt: 1, protocol: 4, done: true, at };
  const owner = { objectUid: `uid-${n}`, nodeName: name, nodeUid: 'u' };
  const applied = { ...run, ...owner, requested: macs, knownFrom: { uid: `uid-${n}`, job: 'j' } };
  const interfaces = macs.map((macAddress, id) => ({ id, macAddress }));
  return readNodeConfig({
    metadata: {
      name,
      namespace: 'multinic-system',
      uid: `uid-${n}`,
      generation: version,
      resourceVersion: String(version),
      annotations: { 'multinic.io/source': JSON.stringify({ uid }) },
    },
    spec: { nodeName: name, interfaces: isEmpty ? [] : interfaces },
    status: {
      applied,
      knownInterfaces: macs.map((macAddress, id) => ({ id, macAddress })),
    },
  });
}

function start(size: number) {
  const stores = createStores();
  const budget = createBudget({ stores, ledger: { version: 0 }, clock });
  budget.follow(stores.configs);
  for (let n = 0; n < size; n += 1) {
    const one = object(n, false);
    stores.nodes.upsert({ metadata: { name: one.metadata.name, resourceVersion: '1' } });
    stores.configs.upsert(one);
  }
  const set = (n: number, isEmpty: boolean) => stores.configs.upsert(object(n, isEmpty));
  const used = (entries: readonly LedgerEntry[] = []) =>
    budget.useFor(object(0, false), [], entries).map((use) => `${use.used}/${use.total}`);
  return { stores, set, used };
}

/** The object of node `n` in deletion, and an object of another name with its NICs. */
function replacedObject(n: number): readonly [NodeConfig, NodeConfig] {
  const { metadata, ...rest } = object(n, false);
  const deletionTimestamp = clock.now().toISOString();
  const successor = { ...metadata, name: `other-${n}`, uid: `other-${n}` };
  return [
    { ...rest, metadata: { ...metadata, deletionTimestamp } },
    { ...rest, metadata: successor, status: {} },
  ];
}

const entry = (n: number, mac: string) => ({ uid: `old-${n}`, node: `node-${n}`, macs: [mac] });

describe('the budget of removals', () => {
  it('a change counts at once while no budget is exceeded', () => {
    const { set, used } = start(10);
    expect(used()).toEqual(['0/10', '0/20', '0/20']);
    for (const n of [1, 2, 3]) {
      set(n, true);
      expect(used()).toEqual([`${n}/10`, `${2 * n}/20`, `${2 * n}/20`]);
    }
    set(3, false);
    expect(used()).toEqual(['2/10', '4/20', '4/20']);
  });

  it('an exceeded budget is counted again after a second', async () => {
    const { set, used } = start(10);
    for (const n of [1, 2, 3, 4]) set(n, true);
    expect(used()).toEqual(['4/10', '8/20', '8/20']);
    for (const n of [3, 4]) set(n, false);
    expect(used()).toEqual(['4/10', '8/20', '8/20']);
    await clock.advance(1_000);
    expect(used()).toEqual(['2/10', '4/20', '4/20']);
  });

  it('a deleted object counts again once its successor is gone', async () => {
    const { stores, used } = start(10);
    const replaced = [1, 2, 3, 4, 5].map(replacedObject);
    for (const one of replaced.flat()) stores.configs.upsert(one);
    expect(used()[0]).toBe('0/10');
    for (const [, successor] of replaced) stores.configs.remove(successor);
    await clock.advance(1_000);
    expect(used()[0]).toBe('5/10');
  });

  it('removals of deleted objects do not enlarge the totals when their objects exist again', async () => {
    const { used } = start(10);
    expect(used([entry(1, 'a'), entry(2, 'b')])).toEqual(['2/10', '2/20', '0/20']);
    await clock.advance(1_000);
    expect(used([entry(11, 'a'), entry(12, 'b')])).toEqual(['2/12', '2/22', '0/20']);
  });
});
