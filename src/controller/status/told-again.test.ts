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
import { statusPatch } from './status.ts';

describe('a recorded end of which the status does not tell all', () => {
  const applied = { ...begun(agentTask(), 'job-1', { protocol: 2 }, endedAt), done: true };
  const later = new Date('2026-01-01T13:00:00Z');
  const drift = { type: 'Drifted', status: 'True', reason: 'Drifted', message: 'm' } as const;

  function retold(spec: object, change: object = {}) {
    const before = { ...status(reported()), applied, ...change };
    return status({ kind: 'recorded' }, nodeConfig({ spec, status: before }), later);
  }

  it.each([
    ['in another form', { interfaces: [entry(0, { cidr: '10.0.0.10/24' })] }, {}],
    ['that is not told of', {}, { interfaceStatuses: [] }],
    [
      'of which somebody else told',
      {},
      { interfaceStatuses: [{ macAddress: entry(0).macAddress, status: 'Failed' }] },
    ],
    [
      'that is told to be on its way',
      {},
      {
        interfaceStatuses: status(reported()).interfaceStatuses?.map((nic) => ({
          ...nic,
          status: 'InProgress',
        })),
      },
    ],
    [
      'of which less was kept',
      {},
      { interfaceStatuses: [{ status: 'Configured', reason: 'Configured', name: 'multinic0' }] },
    ],
  ])('says of a NIC %s that it is configured', (_, spec, change) => {
    const warned = status(reported({ warnings: ['a firewall is in the way'] })).conditions;
    const next = retold(spec, { conditions: warned, ...change });
    expect(lines(next)).toEqual(['multinic0 Configured Configured']);
    expect(next.conditions).toEqual(warned);
    const again = nodeConfig({ spec, status: next });
    expect(statusPatch(again, status({ kind: 'recorded' }, again, now))).toBeUndefined();
  });

  it('says nothing again for an entry that cannot be used', () => {
    const spec = { interfaces: [entry(0), entry(1, { cidr: 'none' })] };
    const first = status(reported(), nodeConfig({ spec }));
    expect(lines(first)).toEqual([
      'multinic0 Configured Configured',
      'multinic1 Failed InvalidEntry',
    ]);
    const seen = first.interfaceStatuses?.map((nic) => ({ ...nic, lastChecked: 'later' }));
    const next = retold(spec, { ...first, interfaceStatuses: seen });
    expect(next.interfaceStatuses?.[0]?.lastChecked).toBe('later');
  });

  it('says at which place of the spec a NIC is now', () => {
    const first = status(
      reported({ nics: [nicResult(0), nicResult(1)] }),
      nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } }),
    );
    const next = retold({ interfaces: [entry(1), entry(0)] }, first);
    expect(next.interfaceStatuses?.map(({ id, interfaceIndex }) => [id, interfaceIndex])).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  it('leaves what the last look found as it is: nothing was applied meanwhile', () => {
    const { conditions = [] } = status({
      kind: 'refused',
      reason: 'NodeNotFound',
      message: 'no Node',
    });
    const next = retold(
      {},
      { conditions: [...conditions, { ...drift, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    );
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'True AllInterfacesConfigured',
      Drifted: 'True Drifted',
    });
  });
});
