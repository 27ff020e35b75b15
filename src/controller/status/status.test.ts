import { describe, expect, it } from 'vitest';
import {
  agentTask,
  entry,
  nicResult,
  nodeConfig,
} from '../../../test/fixtures/controller-samples.ts';
import {
  conditionsIn,
  ended,
  now,
  reported,
  run,
  status,
} from '../../../test/fixtures/status-samples.ts';
import { findCondition } from '../../api/condition.ts';
import { refusalReason } from '../../api/job.ts';
import { begun } from '../jobs/applied.ts';
import { acceptSpec } from '../jobs/request.ts';
import { type RunPhase } from './run-phase.ts';
import { statusOf } from './status.ts';
import { statusPatch } from './status-patch.ts';

const working: RunPhase = { kind: 'working', run: run(), repeat: false };
const refused = { kind: 'refused', reason: 'NodeNotFound', message: 'no Node' } as const;
const pending = nicResult(1, { state: 'Pending', reason: 'WaitingForNIC', name: '', message: 'm' });

describe('statusOf', () => {
  it('[RW-60] the state is Configured when the agent has configured every NIC in the spec', () => {
    const next = status(reported({ nics: [nicResult(0, { name: 'multinic7' })] }));
    expect(next).toMatchObject({
      state: 'Configured',
      observedGeneration: 1,
      lastProcessed: '2026-01-01T11:59:00Z',
      lastJobName: 'job-1',
    });
    expect(conditionsIn(next)).toEqual({
      Ready: 'True AllInterfacesConfigured',
      Accepted: 'True Accepted',
      Applied: 'True JobSucceeded',
      Verified: 'True JobSucceeded',
      Persistent: 'True JobSucceeded',
    });
    expect(next.interfaceStatuses).toEqual([
      {
        name: 'multinic7',
        interfaceIndex: 0,
        id: 0,
        portId: 'port-0',
        macAddress: 'fa:16:3e:00:00:00',
        address: '10.0.0.10',
        cidr: '10.0.0.0/24',
        mtu: 1450,
        status: 'Configured',
        reason: 'Configured',
        message: '',
        lastUpdated: '2026-01-01T12:00:00Z',
        lastChecked: '2026-01-01T11:59:00Z',
        lastConfigured: '2026-01-01T11:59:00Z',
      },
    ]);
  });

  it('every condition has time, generation and message', () => {
    for (const condition of status(working).conditions ?? []) {
      expect(condition).toMatchObject({
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T12:00:00Z',
      });
      expect(condition.message).toBeTruthy();
    }
  });

  it('the state is InProgress during the first run, with its Job name', () => {
    expect(status(working)).toMatchObject({ state: 'InProgress', lastJobName: 'job-1' });
    expect(conditionsIn(status(working))).toMatchObject({
      Ready: 'Unknown SpecChanged',
      Applied: 'Unknown SpecChanged',
      Reconciling: 'True SpecChanged',
    });
  });

  it('[RW-55] a failed NIC is shown and the remaining NICs stay Configured', () => {
    const config = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } });
    const failed = nicResult(1, { state: 'Failed', reason: 'VerifyFailed', message: 'no route' });
    const next = status(reported({ outcome: 'partial', nics: [nicResult(0), failed] }), config);
    expect(next.state).toBe('Failed');
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False VerifyFailed',
      Applied: 'False JobFailedPartial',
      Verified: 'False JobFailedPartial',
      Persistent: 'False JobFailedPartial',
      Reconciling: 'True VerifyFailed',
    });
    expect(next.interfaceStatuses?.map((nic) => [nic.status, nic.reason])).toEqual([
      ['Configured', 'Configured'],
      ['Failed', 'VerifyFailed'],
    ]);
    expect(findCondition(next.conditions, 'Ready')?.message).toBe(
      '1 of 2 interfaces configured; multinic1 VerifyFailed: no route',
    );
  });

  it('NICs kept by a run without a known list wait with NotKnownYet, and a later allow-removals is consent', () => {
    const config = nodeConfig({ metadata: { annotations: { 'multinic.io/allow-removals': '1' } } });
    const kept = nicResult(1, { state: 'Held', reason: 'RemovalHeld', mac: 'fa:16:3e:00:00:99' });
    const waiting = nicResult(0, { state: 'Held', reason: 'RemovalHeld' });
    const next = status(reported({ outcome: 'partial', nics: [waiting, kept] }), config);
    expect(next.heldRemovals).toMatchObject({
      code: 'NotKnownYet',
      macs: ['fa:16:3e:00:00:99'],
      allowRemovals: '1',
    });
    expect(findCondition(next.conditions, 'Ready')).toMatchObject({
      reason: 'RemovalHeld',
      message: expect.stringMatching(/^NotKnownYet: NIC fa:16:3e:00:00:99 would be/) as string,
    });
  });

  it('conditions count NICs on the node: failed NICs are rolled back, removed NICs are gone', () => {
    const undone = nicResult(0, { state: 'Failed', reason: 'PersistFailed', name: 'ens4' });
    const none = status(reported({ outcome: 'failed', nics: [undone] }));
    expect(conditionsIn(none)).toMatchObject({
      Applied: 'False JobFailed',
      Verified: 'False JobFailed',
    });
    expect(findCondition(none.conditions, 'Applied')?.message).toBe(
      '0 of 1 interface; multinic0 PersistFailed',
    );
    const removed = nicResult(1, { state: 'Removed', reason: 'Removed' });
    const one = status(reported({ nics: [nicResult(0), removed] }));
    expect(findCondition(one.conditions, 'Verified')?.message).toBe('1 interface');
  });

  it.each([
    [1, '1 interface configured successfully', '1 entry can be used'],
    [2, 'All 2 interfaces configured successfully', 'all 2 entries can be used'],
  ])('[H16] messages for %i NIC use singular or plural correctly', (count, ready, accepted) => {
    const indexes = Array.from({ length: count }, (_unused, index) => index);
    const config = nodeConfig({ spec: { interfaces: indexes.map((index) => entry(index)) } });
    const nics = indexes.map((index) => nicResult(index));
    const { conditions } = status(reported({ nics }), config);
    expect(findCondition(conditions, 'Ready')?.message).toBe(ready);
    expect(findCondition(conditions, 'Accepted')?.message).toBe(accepted);
  });

  it('the state is Pending, not Failed, when only an unplugged NIC is missing', () => {
    const config = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } });
    const next = status(reported({ outcome: 'partial', nics: [nicResult(0), pending] }), config);
    expect(next.state).toBe('Pending');
    expect(next.interfaceStatuses?.[1]).toMatchObject({
      status: 'Pending',
      reason: 'WaitingForNIC',
      name: 'multinic1',
    });
  });

  it.each(['ResultLost', 'OutOfMemory', 'Evicted', 'DeadlineExceeded'] as const)(
    '%s counts as a failure of every NIC, because a missing result is never success',
    (reason) => {
      const before = status(reported());
      const next = status(
        ended({ kind: 'failure', reason, message: 'm' }, { attempt: 2 }),
        nodeConfig({ status: before }),
      );
      expect(next.state).toBe('Failed');
      expect(conditionsIn(next)).toMatchObject({
        Ready: `False ${reason}`,
        Applied: `Unknown ${reason}`,
      });
      expect(next.interfaceStatuses?.[0]).toMatchObject({ status: 'Failed', reason });
    },
  );

  it.each(['ImagePullFailed', 'Unschedulable', 'NotStarted', ...refusalReason.options] as const)(
    'a NIC certainly untouched by the agent keeps its status: %s',
    (reason) => {
      const before = status(reported());
      const never = ended({ kind: 'failure', reason, message: 'm' });
      const next = status(never, nodeConfig({ status: before }));
      expect(next.interfaceStatuses?.[0]?.status).toBe('Configured');
      expect(conditionsIn(next)['Ready']).toBe(`False ${reason}`);
    },
  );

  it('an agent that cannot start is shown with its reason', () => {
    const trouble = { reason: 'ImagePullFailed', message: 'no such image' } as const;
    const next = status({ kind: 'working', run: run({ trouble }), repeat: false });
    expect(next.state).toBe('Failed');
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False ImagePullFailed',
      Reconciling: 'True ImagePullFailed',
    });
  });

  it('a host-wide failure is shown in Ready', () => {
    const config = nodeConfig({ spec: { interfaces: [] } });
    const next = status(
      reported({ outcome: 'failed', nics: [], warnings: ['no netplan'] }),
      config,
    );
    expect(findCondition(next.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'JobFailed',
      message: 'no netplan',
    });
  });

  it('Stalled is True when a user must act', () => {
    const primary = nicResult(0, { state: 'Failed', reason: 'PrimaryNIC' });
    const next = status(reported({ outcome: 'failed', nics: [primary] }));
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False PrimaryNIC',
      Stalled: 'True PrimaryNIC',
    });
    expect(conditionsIn(next)).not.toHaveProperty('Reconciling');
  });

  it('a refused entry is shown in its own status, and the object is not Configured', () => {
    const config = nodeConfig({
      spec: { interfaces: [entry(0), entry(1, { address: '1.2.3.4' })] },
    });
    const next = status(reported(), config);
    expect(next.state).toBe('Failed');
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False InvalidEntries',
      Accepted: 'False InvalidEntries',
      Applied: 'True JobSucceeded',
      Stalled: 'True InvalidEntries',
    });
    expect(next.interfaceStatuses?.[1]).toMatchObject({
      status: 'Failed',
      reason: 'InvalidEntry',
      message: 'interfaces[1].address: 1.2.3.4 is not in cidr 10.0.1.0/24',
    });
  });

  it('an unreadable spec keeps the NIC statuses', () => {
    const before = status(reported());
    const config = nodeConfig({ spec: { interfaces: 'none' }, status: before });
    const next = status({ kind: 'refused', reason: 'InvalidEntries', message: 'm' }, config);
    expect(next.interfaceStatuses).toEqual(before.interfaceStatuses);
    expect(conditionsIn(next)['Accepted']).toBe('False InvalidEntries');
  });

  it('an object without a Node is Pending, not Failed', () => {
    expect(status(refused).state).toBe('Pending');
    expect(conditionsIn(status(refused))).toMatchObject({
      Ready: 'False NodeNotFound',
      Reconciling: 'True NodeNotFound',
    });
  });

  it('a differing node name only sets the condition NameDiffers', () => {
    const config = nodeConfig();
    const name = { kind: 'differs', message: 'm' } as const;
    const next = statusOf({ config, spec: acceptSpec(config), name, situation: reported(), now });
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'True AllInterfacesConfigured',
      NameDiffers: 'True NameDiffers',
    });
  });
});

describe('a retry', () => {
  const config = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } });
  const first = status(reported({ outcome: 'partial', nics: [nicResult(0), pending] }), config);
  const later = new Date('2026-01-01T13:00:00Z');

  it('a retry changes no status before its end', () => {
    const again = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] }, status: first });
    const next = status(
      { kind: 'working', run: run({ attempt: 2, name: 'job-2' }), repeat: true },
      again,
      later,
    );
    expect(next).toEqual(first);
    expect(statusPatch(again, next)).toBeUndefined();
  });

  it('a retry shows a new problem immediately', () => {
    const again = nodeConfig({ status: first });
    const trouble = { reason: 'ImagePullFailed', message: 'm' } as const;
    const next = status(
      { kind: 'working', run: run({ attempt: 2, trouble }), repeat: true },
      again,
      later,
    );
    expect(conditionsIn(next)['Ready']).toBe('False ImagePullFailed');
  });

  it('a retry changes a time only if its content changed', () => {
    const again = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] }, status: first });
    const next = status(
      reported({ attempt: 2, outcome: 'partial', nics: [nicResult(0), pending] }),
      again,
      later,
    );
    expect(findCondition(next.conditions, 'Ready')).toEqual(
      findCondition(first.conditions, 'Ready'),
    );
    expect(next.interfaceStatuses?.map(({ lastUpdated }) => lastUpdated)).toEqual(
      first.interfaceStatuses?.map(({ lastUpdated }) => lastUpdated),
    );
  });
});

describe('a recorded outcome', () => {
  it.each([
    ['all NICs configured', reported()],
    ['a failed NIC', reported({ outcome: 'failed', nics: [pending] })],
    ['a lost result', ended({ kind: 'failure', reason: 'ResultLost', message: 'm' })],
  ])('a recorded outcome leaves the status unchanged: %s', (_what, situation) => {
    const first = status(situation);
    const config = nodeConfig({ status: first });
    expect(statusPatch(config, status({ kind: 'recorded' }, config))).toBeUndefined();
  });

  it.each([
    ['a node that was not found', refused],
    [
      'entries corrected since',
      { kind: 'refused', reason: 'InvalidEntries', message: 'interfaces[1]: no MAC' } as const,
    ],
  ])('a recorded outcome is shown again after a status about %s', (_what, since) => {
    const applied = { ...begun(agentTask(), 'job-1', { protocol: 2 }, now), done: true };
    const config = nodeConfig({ status: { ...status(since), applied } });
    const next = status({ kind: 'recorded' }, config);
    expect(conditionsIn(next)['Ready']).toBe('True AllInterfacesConfigured');
    expect(next).toMatchObject({ state: 'Configured', lastJobName: 'job-1' });
  });
});

describe('a check of an object with held removals', () => {
  it('the hold stays, because only the gate ends it', () => {
    const { uid = '', generation = 0 } = nodeConfig().metadata;
    const applied = { ...begun(agentTask(), 'job-1', { protocol: 4 }, now), done: true };
    const held = { status: 'False', reason: 'RemovalHeld', message: 'OverBudget: NIC x' } as const;
    const conditions = [{ type: 'Ready', ...held, lastTransitionTime: now.toISOString() }];
    const heldRemovals = { uid, generation, code: 'OverBudget', macs: ['fa:16:3e:00:00:99'] };
    const before = { ...status(reported()), applied, conditions, heldRemovals };
    const check = { nics: [nicResult(0)], at: now };
    const next = status({ kind: 'recorded', check }, nodeConfig({ status: before }));
    expect(conditionsIn(next)['Ready']).toBe('False RemovalHeld');
    expect(next.heldRemovals).toEqual(heldRemovals);
  });
});

describe('observedSpecHash', () => {
  it("observedSpecHash echoes the spec's hash, otherwise our own", () => {
    expect(status(working, nodeConfig({ spec: { specHash: 'theirs' } })).observedSpecHash).toBe(
      'theirs',
    );
    expect(status(working).observedSpecHash).toMatch(/^[0-9a-f]{64}$/);
  });
});
