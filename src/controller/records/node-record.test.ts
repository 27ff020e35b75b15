import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../../test/fixtures/controller.ts';
import { agentTask, entry, job } from '../../../test/fixtures/controller-samples.ts';
import { jobs } from '../../kube/core-resources.ts';
import { nodeConfigs } from '../objects/stores.ts';

const good = 'True AllInterfacesConfigured';
const elsewhere = 'uuid-of-nothing';
let fixture: ControllerFixture;
/** Node name to addresses, as the last agent run left them. */
let hosts: Map<string, string>;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
  hosts = new Map();
  const { answer } = fixture.agents;
  fixture.agents.answer = (request) => {
    hosts.set(request.nodeName, request.interfaces.flatMap(({ addresses }) => addresses).join());
    return answer(request);
  };
  for (const name of ['w1', 'w2']) {
    await fixture.addNode(name, `uuid-of-${name}`);
    const machine = { machineID: `machine-${name}`, bootID: `boot-${name}` };
    await fixture.setNode(name, { systemUUID: `uuid-of-${name}`, ...machine });
  }
  fixture.run();
});

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const at = (address: string) => [entry(0, { address })];

/** Configures object x on w1, mistypes its instance id, and configures object y on w1. */
async function mistypedX(): Promise<void> {
  await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
  await fixture.untilReady('x', good);
  await fixture.apply('x', { instanceId: elsewhere, interfaces: at('10.0.0.10') });
  await fixture.untilReady('x', 'False NodeNotFound');
  await fixture.apply('y', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.77') });
  await fixture.untilReady('y', good);
}

async function correctX(): Promise<void> {
  await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
  await fixture.untilReady('x', good);
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
  await fixture.admin.create(jobs, {
    ...made,
    metadata,
    spec: { ...made.spec, suspend: true },
  });
}

describe("an object's record", () => {
  it('[B1] a record is stale after another object was applied to the node and cleaned up', async () => {
    await mistypedX();
    await fixture.delete('y');
    await fixture.untilGone('y');
    await correctX();
    expect(hosts.get('w1')).toBe('10.0.0.10/24');
  });

  it('[B1] a record is stale after another object was force-deleted during a controller downtime', async () => {
    await mistypedX();
    await fixture.stop();
    const ref = { namespace: 'multinic-system', name: 'y' };
    await fixture.admin.patch(nodeConfigs, ref, { metadata: { finalizers: null } });
    await fixture.delete('y');
    await fixture.untilGone('y');
    fixture.run();
    await correctX();
    expect(hosts.get('w1')).toBe('10.0.0.10/24');
  });

  it('[B2] a record is stale after another object left its address on the node', async () => {
    await mistypedX();
    await fixture.apply('y', { instanceId: 'uuid-of-w2', interfaces: at('10.0.0.77') });
    await correctX();
    await fixture.untilReady('y', good);
    expect(hosts).toEqual(
      new Map([
        ['w1', '10.0.0.10/24'],
        ['w2', '10.0.0.77/24'],
      ]),
    );
  });

  it('[B2] a record is stale on a node that served another object during an id swap and back', async () => {
    const x = { instanceId: 'uuid-of-w1', interfaces: nic(1, '10.0.0.11') };
    const y = { instanceId: 'uuid-of-w2', interfaces: nic(2, '10.0.0.12') };
    await fixture.apply('x', x);
    await fixture.apply('y', y);
    await fixture.untilReady('x', good);
    await fixture.untilReady('y', good);
    await fixture.setReady('w2', 'False');
    await fixture.apply('x', y);
    await fixture.apply('y', { ...x, interfaces: nic(1, '10.0.0.99') });
    await fixture.untilReady('y', good);
    expect(hosts.get('w1')).toBe('10.0.0.99/24');
    await fixture.apply('x', x);
    await fixture.apply('y', y);
    await fixture.setReady('w2', 'True');
    await fixture.untilReady('x', good);
    await fixture.untilReady('y', good);
    expect(hosts.get('w1')).toBe('10.0.0.11/24');
  });

  it('[B3] a record is ignored for an object restored from a backup with its status', async () => {
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const { status } = await fixture.untilReady('x', good);
    await fixture.delete('x');
    await fixture.untilGone('x');
    await fixture.stop();
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const ref = { namespace: 'multinic-system', name: 'x' };
    await fixture.admin.patchStatus(nodeConfigs, ref, { status });
    expect(hosts.get('w1')).toBe('');
    fixture.run();
    await fixture.eventually(
      () => hosts.get('w1') === '10.0.0.10/24',
      () => 'nothing is sent',
    );
    await fixture.untilReady('x', good);
  });

  it.each([
    ['[B3] an earlier version wrote it for another object', 'other', 3],
    ['an earlier version wrote it for this object', 'own', 1],
  ])('a record without a uid is matched by its Job name when %s', async (_, whose, requests) => {
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    const before = await fixture.untilReady('x', good);
    if (whose === 'other') {
      await fixture.delete('x');
      await fixture.untilGone('x');
    }
    await fixture.stop();
    if (whose === 'other') {
      await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    }
    const { objectUid: _uid, macs: _macs, ...applied } = before.status?.applied ?? {};
    const status = { ...before.status, applied: { ...applied, objectUid: null, macs: null } };
    await fixture.admin.patchStatus(
      nodeConfigs,
      { namespace: 'multinic-system', name: 'x' },
      { status },
    );
    fixture.run();
    await fixture.pass(50);
    await fixture.untilReady('x', good);
    expect(fixture.agents.requests).toHaveLength(requests);
  });

  it('[B4] a record is undone after a Job from another namespace ran on the node', async () => {
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await fixture.untilReady('x', good);
    await fixture.pass(50);
    await jobOfOtherNamespace();
    const { status } = await fixture.untilReady('x', 'False DuplicateInstanceId');
    expect(status?.applied?.undone).toBe(true);
    const [made] = fixture
      .jobs()
      .filter(({ metadata }) => metadata.annotations?.['multinic.io/config'] === 'green/w1');
    await fixture.admin.delete(
      jobs,
      { namespace: 'multinic-agents', name: made?.metadata.name ?? '' },
      { propagationPolicy: 'Background' },
    );
    await fixture.untilReady('x', good);
    expect(fixture.agents.requests).toHaveLength(2);
  });

  it('[B4] a record is undone after a foreign Job ran during a controller downtime', async () => {
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await fixture.untilReady('x', good);
    await fixture.stop();
    await fixture.pass(50);
    await jobOfOtherNamespace();
    fixture.run();
    await fixture.untilReady('x', 'False DuplicateInstanceId');
  });

  it("[B1] an undone record is rewritten when a run continues under an unfinished run's name", async () => {
    await fixture.apply('x', { instanceId: 'uuid-of-w1', interfaces: at('10.0.0.10') });
    await fixture.untilReady('x', good);
    for (const { metadata } of fixture.jobs()) {
      const ref = { namespace: 'multinic-agents', name: metadata.name };
      await fixture.admin.delete(jobs, ref, { propagationPolicy: 'Background' });
    }
    await fixture.pass(10);
    const ref = { namespace: 'multinic-system', name: 'x' };
    await fixture.admin.patchStatus(nodeConfigs, ref, {
      status: { applied: { undone: true, done: null } },
    });
    await fixture.until('x', ({ status }) => status?.applied?.undone === undefined);
    await fixture.untilReady('x', good);
    await fixture.pass(100);
    expect(fixture.agents.requests).toHaveLength(2);
  });
});
