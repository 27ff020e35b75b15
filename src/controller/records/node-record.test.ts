import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { agentTask, entry, job } from '../../../test/fixtures/controller-samples.ts';
import { jobs } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const elsewhere = 'uuid-of-nothing';
let bed: ControllerFixture;
/** Addresses that each node has, as its agents left them. */
let hosts: Map<string, string>;

beforeEach(async () => {
  bed = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = bed.agents;
  bed.agents.answer = (request) => {
    hosts.set(request.nodeName, request.interfaces.flatMap(({ addresses }) => addresses).join());
    return answer(request);
  };
  for (const name of ['w1', 'w2']) {
    await bed.addNode(name, `uuid-of-${name}`);
    const machine = { machineID: `machine-${name}`, bootID: `boot-${name}` };
    await bed.setNode(name, { systemUUID: `uuid-of-${name}`, ...machine });
  }
  bed.run();
});

afterEach(async () => {
  await bed[Symbol.asyncDispose]();
});

const at = (address: string) => [entry(0, { address })];

/** Object x is configured on w1; then its instance id is mistyped. */
async function mistypedX(): Promise<void> {
  await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
  await bed.untilReady('x', good);
  await bed.apply('x', { instanceId: elsewhere, interfaces: at('10.0.0.10') });
  await bed.untilReady('x', 'False NodeNotFound');
  await bed.apply('y', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.77') });
  await bed.untilReady('y', good);
}

async function correctX(): Promise<void> {
  await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
  await bed.untilReady('x', good);
}

const nic = (n: number, address: string) => [
  entry(0, { macAddress: `fa:16:3e:00:00:1${n}`, address }),
];

async function jobOfOtherNamespace(): Promise<void> {
  const config = { namespace: 'green', name: 'w1' };
  const machine = { nodeName: 'w1', nodeUid: 'u', machineId: 'machine-w1', bootId: undefined };
  const made = job(
    agentTask({ uid: 'green-uid', node: 'w1', instance: 'uuid-of-w1', config, machine }),
  );
  const { uid: _uid, ...metadata } = made.metadata;
  await bed.admin.create(jobs, {
    ...made,
    metadata,
    spec: { ...made.spec, suspend: true },
  });
}

describe('the record of an object', () => {
  it('[B1] does not count after another object was applied to the node and cleaned it', async () => {
    await mistypedX();
    await bed.delete('y');
    await bed.untilGone('y');
    await correctX();
    expect(hosts.get('w1')).toBe('10.0.0.10/24');
  });

  it('[B1] does not count after the other object was forced out while the controller was down', async () => {
    await mistypedX();
    await bed.stop();
    const ref = { namespace: 'multinic-system', name: 'y' };
    await bed.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await bed.delete('y');
    await bed.untilGone('y');
    bed.run();
    await correctX();
    expect(hosts.get('w1')).toBe('10.0.0.10/24');
  });

  it('[B2] does not count after another object left its own address on the node', async () => {
    await mistypedX();
    await bed.apply('y', { instanceId: 'uuid-of-w2', interfaces: at('10.0.0.77') });
    await correctX();
    await bed.untilReady('y', good);
    expect(hosts).toEqual(
      new Map([
        ['w1', '10.0.0.10/24'],
        ['w2', '10.0.0.77/24'],
      ]),
    );
  });

  it('[B2] does not count on a node that served the other object while ids were exchanged and changed back', async () => {
    const x = { instanceId: 'uuid-of-w1', interfaces: nic(1, '10.0.0.11') };
    const y = { instanceId: 'uuid-of-w2', interfaces: nic(2, '10.0.0.12') };
    await bed.apply('x', x);
    await bed.apply('y', y);
    await bed.untilReady('x', good);
    await bed.untilReady('y', good);
    await bed.setReady('w2', 'False');
    await bed.apply('x', y);
    await bed.apply('y', { ...x, interfaces: nic(1, '10.0.0.99') });
    await bed.untilReady('y', good);
    expect(hosts.get('w1')).toBe('10.0.0.99/24');
    await bed.apply('x', x);
    await bed.apply('y', y);
    await bed.setReady('w2', 'True');
    await bed.untilReady('x', good);
    await bed.untilReady('y', good);
    expect(hosts.get('w1')).toBe('10.0.0.11/24');
  });

  it('[B3] does not count for an object that was restored from a backup with its status', async () => {
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const { status } = await bed.untilReady('x', good);
    await bed.delete('x');
    await bed.untilGone('x');
    await bed.stop();
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const ref = { namespace: 'multinic-system', name: 'x' };
    await bed.admin.patchStatus(nodeConfigs, ref, { status });
    expect(hosts.get('w1')).toBe('');
    bed.run();
    await bed.eventually(
      () => hosts.get('w1') === '10.0.0.10/24',
      () => 'nothing is sent',
    );
    await bed.untilReady('x', good);
  });

  it.each([
    ['[B3] an earlier version wrote it for another object', 'other', 3],
    ['an earlier version wrote it for this object', 'own', 1],
  ])('counts by the name of its Job when %s', async (_, whose, requests) => {
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const before = await bed.untilReady('x', good);
    if (whose === 'other') {
      await bed.delete('x');
      await bed.untilGone('x');
    }
    await bed.stop();
    if (whose === 'other') {
      await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    }
    const { objectUid: _uid, macs: _macs, ...applied } = before.status?.applied ?? {};
    const status = { ...before.status, applied: { ...applied, objectUid: null, macs: null } };
    await bed.admin.patchStatus(
      nodeConfigs,
      { namespace: 'multinic-system', name: 'x' },
      { status },
    );
    bed.run();
    await bed.pass(50);
    await bed.untilReady('x', good);
    expect(bed.agents.requests).toHaveLength(requests);
  });

  it('[B4] does not count after a Job of another namespace worked on the node', async () => {
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await bed.untilReady('x', good);
    await bed.pass(50);
    await jobOfOtherNamespace();
    const { status } = await bed.untilReady('x', 'False DuplicateInstanceId');
    expect(status?.applied?.undone).toBe(true);
    const [made] = bed
      .jobs()
      .filter(({ metadata }) => metadata.annotations?.['multinic.io/config'] === 'green/w1');
    await bed.admin.delete(
      jobs,
      { namespace: 'multinic-agents', name: made?.metadata.name ?? '' },
      { propagationPolicy: 'Background' },
    );
    await bed.untilReady('x', good);
    expect(bed.agents.requests).toHaveLength(2);
  });

  it('[B4] does not count after that Job while the controller was down', async () => {
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await bed.untilReady('x', good);
    await bed.stop();
    await bed.pass(50);
    await jobOfOtherNamespace();
    bed.run();
    await bed.untilReady('x', 'False DuplicateInstanceId');
  });

  it('[B1] is written anew when its run goes on under the name of one that never ended', async () => {
    await bed.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await bed.untilReady('x', good);
    for (const { metadata } of bed.jobs()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      await bed.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    }
    await bed.pass(10);
    const ref = { namespace: 'multinic-system', name: 'x' };
    await bed.admin.patchStatus(nodeConfigs, ref, {
      status: { applied: { undone: true, done: null } },
    });
    await bed.until('x', ({ status }) => status?.applied?.undone === undefined);
    await bed.untilReady('x', good);
    await bed.pass(100);
    expect(bed.agents.requests).toHaveLength(2);
  });
});
