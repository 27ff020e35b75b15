import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rotated } from '../../rotation.ts';
import { contrabassTests } from './contrabass-tests.ts';
import type { Contract } from './contract.ts';
import { evidenceTests } from './evidence-tests.ts';
import { keystoneTests } from './keystone-tests.ts';
import { leastAccountTests } from './least-account-tests.ts';
import { createMethodHits } from './method-hits.ts';
import { networkTests } from './network-tests.ts';
import { neutronWireTests } from './neutron-wire-tests.ts';
import { novaWireTests } from './nova-wire-tests.ts';
import { portTests } from './port-tests.ts';
import { serverTests } from './server-tests.ts';
import { type CloudUnderTest, createSetting, type Setting } from './setting.ts';

/** Minimum number of contract tests: a lost group fails the suite. */
const fewest = 100;

/** Contract tests by subject. */
const parts: Readonly<Record<string, (contract: Contract) => void>> = {
  Contrabass: contrabassTests,
  Keystone: keystoneTests,
  ports: portTests,
  networks: networkTests,
  servers: serverTests,
  evidence: evidenceTests,
  'least account': leastAccountTests,
  'wire of Neutron': neutronWireTests,
  'wire of Nova': novaWireTests,
};

/**
 * Runs the cloud contract against the cloud from `open`: the simulation and real OpenStack must both pass. With `inTurn`, each run takes
 * every second group.
 */
export function cloudContract(
  name: string,
  open: () => Promise<CloudUnderTest & AsyncDisposable>,
  { inTurn = false }: { readonly inTurn?: boolean } = {},
): void {
  const all = Object.entries(parts);
  const chosen = inTurn ? rotated(`cloud contract on ${name}`, all, 2, ([part]) => part) : all;
  describe(`cloud contract on ${name}`, () => {
    const ids = new Set<string>();
    const passed = new Set<string>();
    const hits = createMethodHits();
    let cloud: (CloudUnderTest & AsyncDisposable) | undefined;
    let setting: Setting | undefined;

    beforeAll(async () => {
      cloud = await open();
      setting = await createSetting(cloud, hits);
    });
    afterAll(async () => {
      await setting?.[Symbol.asyncDispose]();
      await cloud?.[Symbol.asyncDispose]();
      process.stdout.write(`cloud contract on ${name}: ${passed.size} of ${ids.size} passed\n`);
    });

    const contract: Contract = (id, title, check) => {
      if (ids.has(id)) throw new Error(`the id ${id} is taken`);
      ids.add(id);
      test(`${id}: ${title}`, async () => {
        if (setting === undefined) throw new Error('there is no setting');
        await check(setting);
        passed.add(id);
      });
    };

    for (const [, register] of chosen) register(contract);
    if (chosen.length < all.length) return;

    test('every method of the clients is used by the suite', () => {
      expect(hits.known().length).toBeGreaterThan(15);
      expect(hits.missed()).toEqual([]);
    });

    test(`the contract has at least ${fewest} tests, and all passed`, () => {
      expect(ids.size).toBeGreaterThanOrEqual(fewest);
      expect(passed).toEqual(ids);
    });
  });
}
