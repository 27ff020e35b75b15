import { describe, expect, it } from 'vitest';
import type { JobRequest } from '../../api/job.ts';
import { netplan } from '../backends/netplan.ts';
import { emptyState, type NicRecord, withNic } from '../state.ts';
import { planRemoval } from './plan-removal.ts';

const macs = ['02:00:00:00:01:00', '02:00:00:00:01:01'] as const;

function record(index: 0 | 1): NicRecord {
  return {
    mac: macs[index],
    index,
    originalName: `ens${index}`,
    addresses: [`10.0.${index}.10/24`],
    table: 100 + index,
    priority: 10_100 + index,
    files: [{ path: netplan.path(index), sha256: '' }],
  };
}

/** MACs released from a host with both NICs, for an empty request with this change. */
function removed(change: Partial<JobRequest>) {
  const { units } = planRemoval({
    request: {
      protocol: 1,
      uid: 'u',
      generation: 1,
      attempt: 1,
      action: 'apply',
      nodeName: 'n',
      protectedAddresses: [],
      interfaces: [],
      ...change,
    },
    state: withNic(withNic(emptyState, record(0)), record(1)),
    host: {
      links: [],
      addresses: [],
      routes: [],
      rules: [],
      neighbours: [],
      settings: new Map(),
      defaultSettings: { 'ipv6.accept_ra': '1' },
      files: [],
      held: [],
    },
    backend: netplan,
    bootId: 'boot-1',
  });
  return units.map(({ target }) => target.mac);
}

describe('MACs listed in `keep`', () => {
  it('[RW-86] a NIC listed in keep stays without a request entry', () => {
    expect(removed({})).toEqual([...macs]);
    expect(removed({ keep: [macs[0]] })).toEqual([macs[1]]);
  });

  it('a clean-up also releases a NIC listed in keep', () => {
    expect(removed({ action: 'cleanup', keep: [macs[0]] })).toEqual([...macs]);
  });
});
