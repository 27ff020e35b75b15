import { describe, expect, it } from 'vitest';
import type { ConfigObject } from '../model/openstack-config.ts';
import { budgetsOf, othersIn } from './budgets.ts';

const now = new Date('2026-01-01T10:00:00Z');
const settings = { defaultK8sProviderId: undefined };

/** Returns an OpenstackConfig with delivered NICs on two nodes, and 3 NICs removed from one node at 9:30. */
function config(name: string, k8sProviderID: string, interfaces: number): ConfigObject {
  return {
    metadata: { namespace: 'ns', name, uid: name },
    spec: { subnetIDs: ['s'], credentials: { k8sProviderID } },
    status: {
      summary: { interfaces, nodes: 2 },
      removals: [{ at: '2026-01-01T09:30:00Z', nics: 3, nodes: 1 }],
    },
  };
}

describe('budgets of a business cluster', () => {
  const object = config('own', 'biz-1', 10);
  const others = [config('second', 'biz-1', 20), config('foreign', 'biz-2', 1_000)];

  it('totals contain the OpenstackConfigs of one business cluster, with the removals of the last hour', () => {
    const found = budgetsOf({
      object,
      own: { nics: 10, nodes: 2 },
      others: othersIn('biz-1', object, [object, ...others], settings),
      now,
    });
    const freeAt = '2026-01-01T10:30:00Z';
    expect(found).toEqual([
      { scope: 'clusterNodes', used: 2, total: 6, freeAt },
      { scope: 'clusterNics', used: 6, total: 36, freeAt },
      { scope: 'configNics', used: 3, total: 13, freeAt },
    ]);
  });

  it('removals older than an hour neither count nor delay', () => {
    const later = new Date('2026-01-01T10:30:00Z');
    const own = { nics: 10, nodes: 2 };
    expect(budgetsOf({ object, own, others: [], now: later })).toEqual([
      { scope: 'clusterNodes', used: 0, total: 2 },
      { scope: 'clusterNics', used: 0, total: 10 },
      { scope: 'configNics', used: 0, total: 10 },
    ]);
  });
});
