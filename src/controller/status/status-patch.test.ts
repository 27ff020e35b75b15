import { describe, expect, it } from 'vitest';
import { nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { reported, status } from '../../../test/fixtures/status-samples.ts';
import { statusPatch } from './status-patch.ts';

describe('statusPatch', () => {
  it('statusPatch replaces a legacy status completely, with the resourceVersion as precondition', () => {
    const config = nodeConfig({
      status: {
        state: 'Failed',
        nodeReady: true,
        lastInterfaceCheck: '2026-01-01T00:00:00+09:00',
        conditions: [{ type: 'InProgress', status: 'True', reason: 'SpecChanged' }],
        interfaceStatuses: [
          { name: 'multinic0', macAddress: 'fa:16:3e:00:00:00', actualState: 'Configured' },
        ],
      },
    });
    const next = status(reported(), config);
    expect(next.conditions?.map(({ type }) => type)).not.toContain('InProgress');
    expect(next.interfaceStatuses?.[0]).not.toHaveProperty('actualState');
    expect(statusPatch(config, next)).toEqual({
      metadata: { resourceVersion: '10' },
      status: { nodeReady: null, lastInterfaceCheck: null, ...next },
    });
  });

  it('[RW-74] statusPatch rebuilds an unreadable status', () => {
    const config = nodeConfig({ status: { interfaceStatuses: { multinic0: {} }, phase: 'x' } });
    expect(statusPatch(config, status(reported(), config))).toMatchObject({
      status: { phase: null },
    });
  });

  it('statusPatch returns undefined for an unchanged status', () => {
    const first = status(reported());
    expect(
      statusPatch(nodeConfig({ status: first }), status(reported(), nodeConfig({ status: first }))),
    ).toBeUndefined();
  });
});
