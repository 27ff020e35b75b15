import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerFixture } from '../../test/fixtures/controller.ts';
import {
  entry,
  instanceId,
  nicResult,
  nodeConfig,
} from '../../test/fixtures/controller-samples.ts';
import { failed, RolloutFixture } from '../../test/fixtures/rollout.ts';
import { type Answer, configured } from '../../test/fixtures/scripted-agents.ts';
import type { JobRequest, NicReason } from '../api/job.ts';
import { acceptSpec, contentHashOn } from './jobs/request.ts';

const good = 'True AllInterfacesConfigured';
const adopt = { existingConfiguration: 'Adopt' } as const;
const message = 'ens4: ethernets.ens4.dhcp4 in /etc/netplan/50-cloud-init.yaml';

/** Answers as an agent on a host whose cloud-init configured each NIC. */
const refused =
  (reason: NicReason = 'LeasedByHost'): ((request: JobRequest) => Answer) =>
  ({ interfaces }) => ({
    outcome: 'failed',
    nics: interfaces.map(({ index, mac }) =>
      nicResult(index, { mac, state: 'Failed', reason, message }),
    ),
  });
const atBoot = ({ interfaces }: JobRequest): Answer => ({
  outcome: 'partial',
  nics: interfaces.map(({ index, mac }) =>
    nicResult(index, { mac, state: 'Pending', reason: 'AdoptedAtBoot', code: 'BusMissing' }),
  ),
});
/** Answers as an agent that adopts with consent alone. */
const adopting =
  (then: (request: JobRequest) => Answer = configured) =>
  (request: JobRequest): Answer =>
    request.existingConfiguration === 'Adopt' ? then(request) : refused()(request);

let fixture: ControllerFixture;

beforeEach(async () => {
  fixture = await ControllerFixture.start();
});

afterEach(async () => fixture[Symbol.asyncDispose]());

const requests = () => fixture.agents.requests;

const hashOf = (spec: object) => contentHashOn('worker-1', acceptSpec(nodeConfig({ spec })));

it('the content hash has the consent only for Adopt', () => {
  expect([hashOf({}), hashOf({ existingConfiguration: 'Refuse' })]).toEqual([
    'f4f56d174ce87940b7bbccb4739142f6',
    'f4f56d174ce87940b7bbccb4739142f6',
  ]);
  expect(hashOf(adopt)).not.toBe('f4f56d174ce87940b7bbccb4739142f6');
});

const boot = (bootID: string) =>
  fixture.setNode('worker-1', { systemUUID: instanceId, machineID: 'machine-1', bootID });

describe('a node', () => {
  const nic = { interfaces: [entry(0)] };

  beforeEach(async () => {
    await fixture.addNode('worker-1');
    await boot('boot-1');
    fixture.run();
  });

  it('each change of the consent starts a run, and requests without consent have the former fields', async () => {
    fixture.agents.answer = adopting();
    await fixture.apply('worker-1', nic);
    await fixture.untilReady('worker-1', 'False LeasedByHost');
    const [former = {}] = requests();
    await fixture.apply('worker-1', { ...nic, ...adopt });
    await fixture.untilReady('worker-1', good);
    const count = requests().length;
    expect(requests().at(-1)).toMatchObject({ protocol: 6, ...adopt });
    fixture.agents.answer = configured;
    await fixture.apply('worker-1', { ...nic, existingConfiguration: 'Refuse' });
    await fixture.untilReady('worker-1', good);
    await fixture.pass(50);
    expect(requests()).toHaveLength(count + 1);
    expect(Object.keys(requests().at(-1) ?? {}).toSorted()).toEqual(Object.keys(former).toSorted());
    expect(Object.keys(former)).not.toContain('existingConfiguration');
  });

  it('a NIC adopted at the next boot is Pending, is retried every five minutes, and is Ready after the boot', async () => {
    fixture.agents.answer = adopting(atBoot);
    await fixture.apply('worker-1', { ...nic, ...adopt });
    const { status } = await fixture.untilReady('worker-1', 'False AdoptedAtBoot');
    expect(status?.interfaceStatuses).toMatchObject([
      { status: 'Pending', reason: 'AdoptedAtBoot', code: 'BusMissing' },
    ]);
    const settings = [{ key: '/existingConfiguration', rollout: 'done' }];
    expect(status?.applied).toMatchObject({ done: false, settings, ...adopt });
    const count = requests().length;
    await fixture.pass(200, 1_000);
    expect(requests()).toHaveLength(count);
    await fixture.pass(300, 1_000);
    expect(requests().length - count).toBeLessThan(4);
    fixture.agents.answer = adopting();
    await boot('boot-2');
    await fixture.untilReady('worker-1', good);
  });

  it('a check reports no drift for a NIC adopted at the next boot, and starts no apply', async () => {
    fixture.agents.answer = adopting();
    await fixture.apply('worker-1', { ...nic, ...adopt });
    await fixture.untilReady('worker-1', good);
    fixture.agents.answer = adopting(atBoot);
    await boot('boot-2');
    const { status } = await fixture.untilReady('worker-1', 'False AdoptedAtBoot');
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Drifted', status: 'False' }),
    );
    fixture.agents.answer = adopting();
    await boot('boot-3');
    await fixture.untilReady('worker-1', good);
    expect(requests().map(({ action }) => action)).toEqual(['apply', 'check', 'check']);
  });

  it('an agent before protocol 6 gets no consent, and the NIC shows AgentTooOld', async () => {
    fixture.agents.answer = (request) =>
      request.protocol > 5 ? JSON.stringify({ protocol: 9 }) : refused()(request);
    await fixture.apply('worker-1', nic);
    await fixture.untilReady('worker-1', 'False LeasedByHost');
    await fixture.apply('worker-1', { ...nic, ...adopt });
    const { status } = await fixture.untilReady('worker-1', 'False AgentTooOld');
    expect(requests().at(-1)).not.toHaveProperty('existingConfiguration');
    expect(status?.interfaceStatuses?.[0]?.message).toBe(
      `adoption needs protocol 6, the agent supports 5: ${message}`,
    );
    expect(status?.applied).not.toHaveProperty('existingConfiguration');
  });
});

/** Returns the number of nodes with a request with consent. */
const started = () =>
  new Set(requests().flatMap((one) => (one.existingConfiguration ? one.nodeName : []))).size;

/**
 * Answers requests with consent only up to `limit` nodes; returns the number of nodes with such a request, once
 * `expected` nodes have one and no further node starts.
 */
async function wave(limit: number, expected: number): Promise<number> {
  const permitted = new Set<string>();
  fixture.agents.answer = adopting((request) => {
    if (permitted.size < limit) permitted.add(request.nodeName);
    return permitted.has(request.nodeName) ? configured(request) : undefined;
  });
  await fixture.eventually(
    () => started() >= expected,
    () => `${started()} nodes adopt`,
  );
  await fixture.pass(100);
  return started();
}

describe('adoption rollout', () => {
  const count = 12;
  let cluster: RolloutFixture;

  beforeEach(() => {
    cluster = new RolloutFixture(fixture, count);
  });

  /** Brings all nodes to refused NICs, without consent. */
  async function refuseAll(): Promise<void> {
    fixture.agents.answer = refused();
    await cluster.createBare();
    fixture.run();
    await fixture.eventually(
      () => cluster.showing('LeasedByHost') === count,
      () => `${cluster.showing('LeasedByHost')} nodes are refused`,
    );
    requests().length = 0;
  }

  it.each([
    ['a new generation of the source', 2, true],
    ["a user's own consent in the objects", 1, true],
    ['a first apply', 1, false],
  ] as const)(
    'by %s, 1 node adopts, then a tenth, then the rest',
    async (_, generation, hasRuns) => {
      cluster.adopts = !hasRuns;
      await (hasRuns ? refuseAll() : cluster.createBare());
      cluster.adopts = true;
      if (hasRuns) await cluster.edit(generation, 1450);
      else fixture.run();
      expect(await wave(0, 1)).toBe(1);
      expect(await wave(1, 3)).toBe(3);
      expect(await wave(3, count)).toBe(count);
      fixture.agents.answer = adopting();
      for (const name of cluster.names) await fixture.untilReady(name, good);
    },
  );

  it('observed nodes get their first apply in turn, with the consent', async () => {
    cluster.observes = true;
    fixture.agents.answer = refused();
    await cluster.createBare();
    fixture.run();
    await fixture.eventually(
      () => requests().length === count && cluster.showing('Observed') === count,
      () => `${requests().length} nodes are checked`,
    );
    cluster.observes = false;
    cluster.adopts = true;
    await cluster.edit(2, 1450);
    expect(await wave(0, 1)).toBe(1);
    expect(await wave(1, 3)).toBe(3);
    expect(cluster.showing('RolloutWaiting')).toBe(count - 3);
    expect(await wave(3, count)).toBe(count);
    fixture.agents.answer = adopting();
    for (const name of cluster.names) await fixture.untilReady(name, good);
    const applies = requests().filter(({ action }) => action === 'apply');
    expect(applies.filter((one) => one.existingConfiguration !== 'Adopt')).toEqual([]);
  });

  it('nodes waiting for their boot count as done', async () => {
    await refuseAll();
    cluster.adopts = true;
    await cluster.edit(2, 1450);
    fixture.agents.answer = adopting(atBoot);
    await fixture.eventually(
      () => cluster.showing('AdoptedAtBoot') === count,
      () => `${cluster.showing('AdoptedAtBoot')} nodes wait for their boot`,
    );
    expect(cluster.having('RolloutStopped')).toBe(0);
  });

  it('a first node whose adoption fails stops the rollout, and a refused NIC does not', async () => {
    await refuseAll();
    cluster.adopts = true;
    await cluster.edit(2, 1450);
    fixture.agents.answer = adopting(failed);
    await cluster.untilStopped(count - 1);
    fixture.agents.answer = adopting(refused('PrimaryNIC'));
    await cluster.edit(3, 1450);
    await fixture.eventually(
      () => cluster.showing('PrimaryNIC') === count,
      () => `${cluster.showing('PrimaryNIC')} nodes are refused`,
    );
  });
});
