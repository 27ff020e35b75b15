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
import type { RunPhase } from './conditions.ts';
import { statusOf, statusPatch } from './status.ts';

const working: RunPhase = { kind: 'working', run: run(), repeat: false };
const refused = { kind: 'refused', reason: 'NodeNotFound', message: 'no Node' } as const;
const pending = nicResult(1, { state: 'Pending', reason: 'WaitingForNIC', name: '', message: 'm' });

describe('the status of an object', () => {
  it('[RW-60] is Configured when the agent has configured every NIC of the spec', () => {
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

  it('fills every condition with time, generation and message', () => {
    for (const condition of status(working).conditions ?? []) {
      expect(condition).toMatchObject({
        observedGeneration: 1,
        lastTransitionTime: '2026-01-01T12:00:00Z',
      });
      expect(condition.message).toBeTruthy();
    }
  });

  it('is InProgress while the first agent works, and names its Job', () => {
    expect(status(working)).toMatchObject({ state: 'InProgress', lastJobName: 'job-1' });
    expect(conditionsIn(status(working))).toMatchObject({
      Ready: 'Unknown SpecChanged',
      Applied: 'Unknown SpecChanged',
      Reconciling: 'True SpecChanged',
    });
  });

  it('[RW-55] tells of one NIC that failed and lets the others stand', () => {
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

  it('counts what is on the node: what failed was undone, what was removed is gone', () => {
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
  ])('[H16] messages of %i NIC use the right number of the noun', (count, ready, accepted) => {
    const indexes = Array.from({ length: count }, (_unused, index) => index);
    const config = nodeConfig({ spec: { interfaces: indexes.map((index) => entry(index)) } });
    const nics = indexes.map((index) => nicResult(index));
    const { conditions } = status(reported({ nics }), config);
    expect(findCondition(conditions, 'Ready')?.message).toBe(ready);
    expect(findCondition(conditions, 'Accepted')?.message).toBe(accepted);
  });

  it('is Pending, not Failed, when all that is missing is a NIC to be plugged', () => {
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
    'takes %s for a failure of every NIC: silence is never success',
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
    'keeps the word on a NIC that the agent certainly never touched: %s',
    (reason) => {
      const before = status(reported());
      const never = ended({ kind: 'failure', reason, message: 'm' });
      const next = status(never, nodeConfig({ status: before }));
      expect(next.interfaceStatuses?.[0]?.status).toBe('Configured');
      expect(conditionsIn(next)['Ready']).toBe(`False ${reason}`);
    },
  );

  it('tells of an agent that does not get to work', () => {
    const trouble = { reason: 'ImagePullFailed', message: 'no such image' } as const;
    const next = status({ kind: 'working', run: run({ trouble }), repeat: false });
    expect(next.state).toBe('Failed');
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False ImagePullFailed',
      Reconciling: 'True ImagePullFailed',
    });
  });

  it('tells what is wrong with the host as a whole', () => {
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

  it('says Stalled when somebody else has to do something', () => {
    const primary = nicResult(0, { state: 'Failed', reason: 'PrimaryNIC' });
    const next = status(reported({ outcome: 'failed', nics: [primary] }));
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'False PrimaryNIC',
      Stalled: 'True PrimaryNIC',
    });
    expect(conditionsIn(next)).not.toHaveProperty('Reconciling');
  });

  it('puts a refused entry into its own line and does not call the object configured', () => {
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

  it('keeps what it knows of NICs when the spec cannot be read', () => {
    const before = status(reported());
    const config = nodeConfig({ spec: { interfaces: 'none' }, status: before });
    const next = status({ kind: 'refused', reason: 'InvalidEntries', message: 'm' }, config);
    expect(next.interfaceStatuses).toEqual(before.interfaceStatuses);
    expect(conditionsIn(next)['Accepted']).toBe('False InvalidEntries');
  });

  it('waits for a node without failing', () => {
    expect(status(refused).state).toBe('Pending');
    expect(conditionsIn(status(refused))).toMatchObject({
      Ready: 'False NodeNotFound',
      Reconciling: 'True NodeNotFound',
    });
  });

  it('shows a differing name as a condition and nothing else', () => {
    const config = nodeConfig();
    const name = { kind: 'differs', message: 'm' } as const;
    const next = statusOf({ config, spec: acceptSpec(config), name, situation: reported(), now });
    expect(conditionsIn(next)).toMatchObject({
      Ready: 'True AllInterfacesConfigured',
      NameDiffers: 'True NameDiffers',
    });
  });
});

describe('a repeated attempt', () => {
  const config = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] } });
  const first = status(reported({ outcome: 'partial', nics: [nicResult(0), pending] }), config);
  const later = new Date('2026-01-01T13:00:00Z');

  it('writes nothing before it has ended', () => {
    const again = nodeConfig({ spec: { interfaces: [entry(0), entry(1)] }, status: first });
    const next = status(
      { kind: 'working', run: run({ attempt: 2, name: 'job-2' }), repeat: true },
      again,
      later,
    );
    expect(next).toEqual(first);
    expect(statusPatch(again, next)).toBeUndefined();
  });

  it('tells of a new trouble at once', () => {
    const again = nodeConfig({ status: first });
    const trouble = { reason: 'ImagePullFailed', message: 'm' } as const;
    const next = status(
      { kind: 'working', run: run({ attempt: 2, trouble }), repeat: true },
      again,
      later,
    );
    expect(conditionsIn(next)['Ready']).toBe('False ImagePullFailed');
  });

  it('moves a time only when what it belongs to has changed', () => {
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

describe('a status that is the only witness left', () => {
  it.each([
    ['that all is well', reported()],
    ['that a NIC failed', reported({ outcome: 'failed', nics: [pending] })],
    ['that a result was lost', ended({ kind: 'failure', reason: 'ResultLost', message: 'm' })],
  ])('stays as it is: %s', (_what, situation) => {
    const first = status(situation);
    const config = nodeConfig({ status: first });
    expect(statusPatch(config, status({ kind: 'recorded' }, config))).toBeUndefined();
  });

  it.each([
    ['a node that was not found', refused],
    [
      'entries that are right by now',
      { kind: 'refused', reason: 'InvalidEntries', message: 'interfaces[1]: no MAC' } as const,
    ],
  ])(
    'tells its recorded end again when it has told of something else since: %s',
    (_what, since) => {
      const applied = { ...begun(agentTask(), 'job-1', { protocol: 2 }, now), done: true };
      const config = nodeConfig({ status: { ...status(since), applied } });
      const next = status({ kind: 'recorded' }, config);
      expect(conditionsIn(next)['Ready']).toBe('True AllInterfacesConfigured');
      expect(next).toMatchObject({ state: 'Configured', lastJobName: 'job-1' });
    },
  );
});

describe('the hash in the status', () => {
  it('is the echo of the one that came with the spec, else our own', () => {
    expect(status(working, nodeConfig({ spec: { specHash: 'theirs' } })).observedSpecHash).toBe(
      'theirs',
    );
    expect(status(working).observedSpecHash).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('statusPatch', () => {
  it('replaces the status of the deployed controller cleanly, at the version that was read', () => {
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

  it('[RW-74] rebuilds a status of a form that nobody knows', () => {
    const config = nodeConfig({ status: { interfaceStatuses: { multinic0: {} }, phase: 'x' } });
    expect(statusPatch(config, status(reported(), config))).toMatchObject({
      status: { phase: null },
    });
  });

  it('is nothing when nothing is new', () => {
    const first = status(reported());
    expect(
      statusPatch(nodeConfig({ status: first }), status(reported(), nodeConfig({ status: first }))),
    ).toBeUndefined();
  });
});
