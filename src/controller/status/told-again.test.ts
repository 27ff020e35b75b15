import { describe, expect, it } from 'vitest';
import {
  agentTask,
  entry,
  nicResult,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import {
  conditionsIn,
  endedAt,
  lines,
  now,
  reported,
  status,
} from '../../../test/fixtures/status-samples.ts';
import { begun } from '../jobs/applied.ts';
import { statusPatch } from './status-patch.ts';

describe('a recorded outcome missing in the status', () => {
  const applied = { ...begun(agentTask(), 'job-1', { protocol: 2 }, endedAt), done: true };
  const later = new Date('2026-01-01T13:00:00Z');
  const drift = { type: 'Drifted', status: 'True', reason: 'Drifted', message: 'm' } as const;

  function restoredStatus(spec: object, change: object = {}) {
    const before = { ...status(reported()), applied, ...change };
    return status({ kind: 'recorded' }, nodeConfig({ spec, status: before }), later);
  }

  it.each([
    ['with an equal cidr in host form', { interfaces: [entry(0, { cidr: '10.0.0.10/24' })] }, {}],
    ['missing in the status', {}, { interfaceStatuses: [] }],
    [
      'set to Failed by a user',
      {},
      { interfaceStatuses: [{ macAddress: entry(0).macAddress, status: 'Failed' }] },
    ],
    [
      'shown as InProgress',
      {},
      {
        interfaceStatuses: status(reported()).interfaceStatuses?.map((nic) => ({
          ...nic,
          status: 'InProgress',
        })),
      },
    ],
    [
      'stored without its MAC',
      {},
      { interfaceStatuses: [{ status: 'Configured', reason: 'Configured', name: 'multinic0' }] },
    ],
  ])('a recorded outcome restores status Configured for a NIC %s', (_, spec, change) => {
    const warned = status(reported({ warnings: ['a firewall is in the way'] })).conditions;
    const next = restoredStatus(spec, { conditions: warned, ...change });
    expect(lines(next)).toEqual(['multinic0 Configured Configured']);
    expect(next.conditions).toEqual(warned);
    const again = nodeConfig({ spec, status: next });
    expect(statusPatch(again, status({ kind: 'recorded' }, again, now))).toBeUndefined();
  });

  it("a recorded outcome does not restore an unusable entry's status", () => {
    const spec = { interfaces: [entry(0), entry(1, { cidr: 'none' })] };
    const first = status(reported(), nodeConfig({ spec }));
    expect(lines(first)).toEqual([
      'multinic0 Configured Configured',
      'multinic1 Failed InvalidEntry',
    ]);
    const checked = first.interfaceStatuses?.map((nic) => ({ ...nic, lastChecked: 'later' }));
    const next = restoredStatus(spec, { ...first, interfaceStatuses: checked });
    expect(next.interfaceStatuses?.[0]?.lastChecked).toBe('later');
  });

  it('a recorded outcome updates interfaceIndex after entries were reordered', () => {
    const first = status(
      reported({ nics: [nicResult(0), nicResult(1)] }),
      nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } }),
    );
    const next = restoredStatus({ interfaces: [entry(1), entry(0)] }, first);
    expect(next.interfaceStatuses?.map(({ id, interfaceIndex }) => [id, interfaceIndex])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('a recorded outcome keeps Drifted, because nothing was applied meanwhile', () => {
    const { conditions = [] } = status({
      kind: 'refused',
      reason: 'NodeNotFound',
      message: 'no Node',
    });
    const next = restoredStatus(
      {},
      { conditions: [...conditions, { ...drift, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    );
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'True AllInterfacesConfigured',
      Drifted: 'True Drifted',
    });
  });
});
