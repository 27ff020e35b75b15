import { describe, expect, it } from 'vitest';
import { entry, nicResult, nodeConfig } from '../../../test/fixtures/controller-samples.ts';
import { conditionsIn, endedAt, lines, status } from '../../../test/fixtures/status-samples.ts';
import { findCondition, maxMessage } from '../../api/condition.ts';
import type { NicResult } from '../../api/job.ts';
import type { NodeConfigStatus } from '../../api/multinicnodeconfig.ts';
import type { NodeConfig } from '../objects/stores.ts';

const drifted = { state: 'Failed', reason: 'Drifted', message: 'an apply would: ip addr' } as const;
const waiting = { state: 'Pending', reason: 'WaitingForNIC', message: 'no link' } as const;
const held = { state: 'Held', reason: 'RemovalHeld', message: 'not named' } as const;

function observed(count: number, before?: NodeConfigStatus): NodeConfig {
  const interfaces = Array.from({ length: count }, (_, n) => entry(n));
  return nodeConfig({
    spec: { mode: 'Observe', interfaces },
    ...(before ? { status: before } : {}),
  });
}

function checked(config: NodeConfig, nics: readonly NicResult[]): NodeConfigStatus {
  const known = nics.filter(({ reason }) => reason !== 'NICInUse');
  return status({ kind: 'recorded', check: { nics, known, at: endedAt } }, config);
}

const readyIn = (next: NodeConfigStatus) => findCondition(next.conditions, 'Ready')?.message ?? '';

describe('an observed NIC', () => {
  it.each<[what: string, found: Partial<NicResult>, line: string]>([
    ['as requested and managed', {}, 'multinic0 Configured Configured'],
    ['with drift', drifted, 'multinic0 Observed Drifted'],
    ['without a link', { ...waiting, name: '' }, 'multinic0 Observed WaitingForNIC'],
    ['under a foreign name', { ...drifted, name: 'ens4' }, 'ens4 Observed Drifted'],
  ])('is shown in the status when %s', (_what, found, line) => {
    const next = checked(observed(1), [nicResult(0, found)]);
    expect(lines(next)).toEqual([line]);
    expect(conditionsIn(next)).toEqual({ Ready: 'Unknown Observed', Accepted: 'True Accepted' });
  });

  it('keeps the finding without a new check, and loses it after an edit', () => {
    const before = checked(observed(1), [nicResult(0, drifted)]);
    const again = status({ kind: 'recorded' }, observed(1, before));
    expect(again).toEqual(before);
    const edited = nodeConfig({
      spec: { mode: 'Observe', interfaces: [entry(0, { mtu: 1400 })] },
      status: before,
    });
    expect(readyIn(status({ kind: 'recorded' }, edited))).toContain('is not checked yet');
  });

  it('stays in the status without an entry in the spec', () => {
    const before = checked(observed(2), [nicResult(0), nicResult(1)]);
    const next = status({ kind: 'recorded' }, observed(1, before));
    expect(lines(next)).toEqual(['multinic0 Configured Configured', 'multinic1 Observed Observed']);
    const after = checked(observed(1, next), [nicResult(0), nicResult(1, held)]);
    expect(lines(after)).toEqual([
      'multinic0 Configured Configured',
      'multinic1 Observed RemovalHeld',
    ]);
    expect(after.summary?.nics).toBe('1/1');
  });
});

it('Ready of an observed node names ten NICs within the limit of a message', () => {
  const nics = Array.from({ length: 10 }, (_, n) =>
    nicResult(n, { ...drifted, message: 'x'.repeat(120) }),
  );
  const message = readyIn(checked(observed(10), nics));
  expect(message.length).toBeLessThanOrEqual(maxMessage);
  for (const { index } of nics) expect(message).toContain(`; multinic${index} Drifted: xxx`);
});
