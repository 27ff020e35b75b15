import { describe, expect, it } from 'vitest';
import { entry, nicResult, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import {
  conditionsIn,
  lines,
  reported,
  run,
  status,
} from '../../../test/fixtures/status-samples.ts';
import { type RunPhase } from './run-phase.ts';

const working: RunPhase = { kind: 'working', run: run(), repeat: false };

describe('a NIC no longer in the spec', () => {
  const before = status(
    reported({ nics: [nicResult(0), nicResult(1)] }),
    nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } }),
  );
  const shrunk = nodeConfig({ metadata: { generation: 2 }, status: before });
  it('a NIC no longer in the spec stays in the status until the agent reports Removed', () => {
    expect(lines(status(working, shrunk))).toEqual([
      'multinic0 Configured Configured',
      'multinic1 InProgress SpecChanged',
    ]);
    const removed = nicResult(1, { state: 'Removed', reason: 'Removed', name: '' });
    const next = status(reported({ generation: 2, nics: [nicResult(0), removed] }), shrunk);
    expect(lines(next)).toEqual(['multinic0 Configured Configured']);
    expect(next.state).toBe('Configured');
  });

  it('a NIC no longer in the spec stays with the reason when its removal failed', () => {
    const stuck = nicResult(1, { state: 'Failed', reason: 'ApplyFailed', message: 'busy' });
    const next = status(reported({ outcome: 'partial', nics: [nicResult(0), stuck] }), shrunk);
    expect(lines(next)).toEqual([
      'multinic0 Configured Configured',
      'multinic1 Failed ApplyFailed',
    ]);
    expect(conditionsIn(next)['Ready']).toBe('False ApplyFailed');
  });

  it('a NIC no longer in the spec is dropped when an agent with outcome ok omits it', () => {
    expect(lines(status(reported(), shrunk))).toEqual(['multinic0 Configured Configured']);
  });

  it.each(['failed', 'partial'] as const)(
    'a NIC no longer in the spec stays when a %s run omits it',
    (outcome) => {
      const stopped = nicResult(0, { state: 'Failed', reason: 'PersistFailed' });
      expect(lines(status(reported({ outcome, nics: [stopped] }), shrunk))).toEqual([
        'multinic0 Failed PersistFailed',
        'multinic1 InProgress SpecChanged',
      ]);
    },
  );

  it('a NIC no longer in the spec stays when a failed run has no NIC results', () => {
    const nothing = reported({ outcome: 'failed', nics: [] });
    expect(lines(status(nothing, shrunk))).toEqual([
      'multinic0 Failed JobFailed',
      'multinic1 InProgress SpecChanged',
    ]);
  });

  it('a NIC whose removal failed is restored from the result after the status was lost', () => {
    const stuck = nicResult(1, { state: 'Failed', reason: 'ApplyFailed', message: 'busy' });
    const next = status(reported({ outcome: 'partial', nics: [nicResult(0), stuck] }));
    expect(lines(next)).toEqual([
      'multinic0 Configured Configured',
      'multinic1 Failed ApplyFailed',
    ]);
  });
});

describe("a NIC's addresses", () => {
  const dual = { addresses: ['10.0.0.10/24', 'fd00::a/64'] };

  it('addresses are listed if more than one, and stay during removal', () => {
    const [first, second] =
      status(
        reported({ nics: [nicResult(0), nicResult(1)] }),
        nodeConfig({
          spec: { interfaces: [entry(0, dual), entry(1, { addresses: ['10.0.1.10/24'] })] },
        }),
      ).interfaceStatuses ?? [];
    expect(first).toMatchObject({ address: '10.0.0.10', ...dual });
    expect(second).toMatchObject({ address: '10.0.1.10' });
    expect(second).not.toHaveProperty('addresses');
    const shrunk = nodeConfig({
      metadata: { generation: 2 },
      spec: { interfaces: [] },
      status: { interfaceStatuses: [first] },
    });
    expect(status(working, shrunk).interfaceStatuses).toMatchObject([dual]);
  });
});

describe('entries with the same MAC', () => {
  it('entries with the same MAC each keep their own status', () => {
    const spec = { interfaces: [entry(0), entry(1, { macAddress: entry(0).macAddress ?? '' })] };
    const first = status(working, nodeConfig({ spec }));
    expect(lines(first)).toEqual([
      'multinic0 Failed InvalidEntry',
      'multinic1 Failed InvalidEntry',
    ]);
    const later = new Date('2026-01-01T13:00:00Z');
    const next = status(working, nodeConfig({ spec, status: first }), later);
    expect(next.interfaceStatuses).toEqual(first.interfaceStatuses);
  });
});

it('a NIC moved within the spec keeps its status', () => {
  const [a, b] = [entry(0), entry(1)];
  const failed = nicResult(1, { state: 'Failed', reason: 'ApplyFailed' });
  const first = status(
    reported({ outcome: 'partial', nics: [nicResult(0), failed] }),
    nodeConfig({ spec: { interfaces: [a, b] } }),
  );
  const moved = nodeConfig({ spec: { interfaces: [b, a] }, status: first });
  expect(lines(status(working, moved))).toEqual([
    'multinic1 Failed ApplyFailed',
    'multinic0 Configured Configured',
  ]);
});

describe('a NIC status without a MAC', () => {
  it('a NIC status without a MAC matches no entry', () => {
    const { interfaceStatuses = [], ...rest } = status(reported());
    const nameless = interfaceStatuses.map((nic) => ({ ...nic, macAddress: undefined }));
    const before = nodeConfig({ status: { ...rest, interfaceStatuses: nameless } });
    expect(lines(status(working, before))).toEqual(['multinic0 InProgress SpecChanged']);
  });
});
