import { describe, expect, test } from 'vitest';
import { type RunningCloud, startCloud } from '../../../rig/cloud/start.ts';
import { cloudContract } from './suite.ts';

let running: RunningCloud | undefined;

cloudContract('simulated', async () => {
  running = await startCloud({ encryptKey: 'contract-key-16b' });
  const { contrabassUrl: endpoint, providerId, encryptKey } = running;
  return { ...running, contrabass: { endpoint, providerId, encryptKey } };
});

describe('the simulated cloud', () => {
  test('every route and every query key is exercised by the contract', () => {
    // The control routes are the simulation's own; rig/cloud/start.test.ts uses them.
    const served = running?.routes.served.filter((route) => !route.startsWith('control ')) ?? [];
    expect(served.length).toBeGreaterThan(30);
    expect(served.filter((route) => running?.routes.exercised.has(route) !== true)).toEqual([]);
  });
});
