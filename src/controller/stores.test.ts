import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { nodeConfig } from '../../test/beds/controller-samples.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { createOtherController } from './stand-back.ts';
import { createStores } from './stores.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
const theirs = { conditions: [{ type: 'Ready', status: 'True', reason: 'JobSucceeded' }] };

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
      expect(stores.leavingSince(new Date(deletionTimestamp))).toBe(100);
      expect(stores.leavingSince(new Date('2026-01-01T00:00:01Z'))).toBe(0);
      expect(stores.processed()).toBe(100);
      expect(owns(one)).toContain('the deployed controller wrote the status of n');
    });
    expect(asked).toBe(0);
  });

  it('takes the memory of their texts and no more', async () => {
    const code = `
      const { workerData } = require('node:worker_threads');
      Promise.all(workerData.map((module) => import(module))).then(([{ createStores }, { nodeConfig }]) => {
        const { configs } = createStores();
        const nics = (n) => Array.from({ length: 10 }, (_, at) => ({
          id: at, portId: \`port-\${n}-\${at}\`, macAddress: \`fa:16:3e:00:\${n}:\${at}\`, address: \`10.0.\${n}.\${at}\`,
          cidr: '10.0.0.0/16', mtu: 1450, subnetId: \`subnet-\${n}\`, networkId: \`network-\${n}\`,
        }));
        for (let n = 0; n < 8_000; n++) {
          configs.upsert(nodeConfig({ metadata: { name: 'n' + n, uid: 'u' + n }, spec: { nodeName: 'n' + n, interfaces: nics(n) } }));
        }
        process.exit(configs.size === 8_000 ? 0 : 1);
      });`;
    const modules = ['./stores.ts', '../../test/beds/controller-samples.ts'];
    const worker = new Worker(code, {
      eval: true,
      workerData: modules.map((module) => import.meta.resolve(module)),
      resourceLimits: { maxOldGenerationSizeMb: 48 },
    });
    expect(await once(worker, 'exit')).toEqual([0]);
  });

  it('is about those alone that nobody consented to, took over or processed', () => {
    const stores = createStores();
    const annotations = { 'multinic.io/delete-consent': '', 'multinic.io/take-over': '' };
    const metadata = { deletionTimestamp, annotations, generation: 2 };
    stores.configs.upsert(nodeConfig({ metadata, status: { ...theirs, observedGeneration: 1 } }));
    expect(stores.leavingSince(new Date(deletionTimestamp))).toBe(0);
    expect(stores.foreign()).toBeUndefined();
    expect(stores.processed()).toBe(0);
  });
});
