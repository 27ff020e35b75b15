import { describe, expect, test } from 'vitest';
import type { NicResult } from '../api/job.ts';
import { withCarrier } from './carrier.ts';
import type { Link } from './snapshot.ts';

const link = (more: Partial<Link>): Link => ({
  index: 7,
  name: 'multinic0',
  altNames: [],
  mac: 'fa:16:3e:00:00:01',
  mtu: 1450,
  up: true,
  ...more,
});
const configured: NicResult = {
  index: 0,
  mac: 'fa:16:3e:00:00:01',
  name: 'multinic0',
  state: 'Configured',
  reason: 'Configured',
  message: '',
};

describe('carrier in a result', () => {
  test.each<[string, boolean | undefined, readonly Link[], readonly Link[], Partial<NicResult>?]>([
    ['true for a running link', true, [link({ up: false, name: 'ens8' })], [link({})]],
    ['false for a link that stays without carrier', false, [link({})], [link({ noCarrier: true })]],
    [
      'unknown for a link that the run has just set up',
      undefined,
      [link({ up: false })],
      [link({ noCarrier: true })],
    ],
    ['unknown for a link that is down', undefined, [link({})], [link({ up: false })]],
    ['unknown without a read after the change', undefined, [link({})], []],
    [
      'true for a NIC whose removal is held',
      true,
      [link({})],
      [link({})],
      { state: 'Held', reason: 'RemovalHeld' },
    ],
    [
      'unknown for a removed NIC',
      undefined,
      [link({})],
      [link({})],
      { state: 'Removed', reason: 'Removed' },
    ],
  ])('the carrier is %s', (_title, carrier, before, after, more = {}) => {
    const [nic] = withCarrier([{ ...configured, ...more }], { before, after });
    expect(nic?.carrier).toBe(carrier);
    expect(nic && 'carrier' in nic).toBe(carrier !== undefined);
  });
});
