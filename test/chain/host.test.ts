import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { primary } from '../../rig/hosts/namespace/host.ts';
import { findCondition } from '../../src/api/condition.ts';
import type { Reason } from '../../src/api/reasons.ts';
import { applyConfig, attach, detach, pause } from '../fixtures/chain/acts.ts';
import { type FullDisk, fillDisk } from '../fixtures/chain/disk.ts';
import { settle } from '../fixtures/chain/faults.ts';
import { expectDoctor } from '../fixtures/chain/multinic.ts';
import {
  configStatusOf,
  generous,
  nodeConfigOf,
  standingOf,
  untilConfigIsReady,
  untilConfigured,
  untilNicReason,
} from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';
import { stateOf, without } from '../host/host-state.ts';

let world: World;
let one: Worker;
let two: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1', 'worker-2']);
  [one, two] = world.workers as [Worker, Worker];
  await settle(world);
});

afterAll(() => world?.[Symbol.asyncDispose]());

interface Obstacle {
  /**
   * Attaches a port to the first worker while the operator is paused. The port cannot become a NIC there. Returns the
   * port's ID.
   */
  readonly spoil: () => Promise<string>;
  readonly reason: Reason;
  /** Removes only the obstacle; idempotent. */
  readonly mend: () => unknown;
  /** Status reported for the existing NIC meanwhile. */
  readonly first?: 'Configured' | 'Failed';
  /** Names of the first worker's NICs after the obstacle is gone. */
  readonly ends?: readonly string[];
}

/** Expects a reason on the NIC, an unchanged host, and a new NIC on the other worker. */
async function endure({ spoil, reason, mend, ...expected }: Obstacle) {
  const { first = 'Configured', ends = ['multinic0', 'multinic1'] } = expected;
  const before = await standingOf(world, one);
  await using after = new AsyncDisposableStack();
  after.defer(() => applyConfig(world, one));
  await pause(world, one);
  after.defer(async () => void (await mend()));
  const port = await spoil();
  after.defer(() => detach(world, one, port));
  const untouched = await stateOf(one.host);
  await applyConfig(world, one);
  await untilNicReason(world, one, port, reason);
  const { port_id: another } = await attach(world, two);
  after.defer(() => detach(world, two, another));
  await untilConfigured(world, two, 'multinic0', 'multinic1');
  await untilNicReason(world, one, port, reason);
  await expectDoctor(world, reason);
  const [there] = nodeConfigOf(world, one)?.status.interfaceStatuses ?? [];
  expect(there).toMatchObject({ name: 'multinic0', status: first });
  // An agent run may be in progress right now.
  await vi.waitFor(async () => expect(await stateOf(one.host)).toEqual(untouched), generous);
  await mend();
  await untilConfigured(world, one, ...ends);
  await untilConfigIsReady(world, one);
  await after.disposeAsync();
  for (const worker of [one, two]) await untilConfigured(world, worker, 'multinic0');
  expect(await standingOf(world, one)).toEqual(before);
}

/** Attaches a port; resolves to its ID and its link name once plugged. */
async function attachPlugged(): Promise<{ id: string; link: string }> {
  const { port_id: id, mac_addr } = await attach(world, one);
  const link = await vi.waitFor(() => {
    const nics = one.hypervisor.plugged(one.serverId);
    return nics.find(({ mac }) => mac === mac_addr)?.nic ?? expect.fail(`${mac_addr} is not there`);
  }, generous);
  return { id, link };
}

describe('NIC with an obstacle', () => {
  it('a port not plugged yet waits with WaitingForNIC and is configured once plugged', async () => {
    one.hypervisor.hold('plug');
    await endure({
      spoil: async () => (await attach(world, one)).port_id,
      reason: 'WaitingForNIC',
      mend: () => one.hypervisor.release('plug'),
    });
  });

  it('[RW-62] a NIC with a foreign address is left unchanged with NICInUse', async () => {
    let link = '';
    const address = ['addr', 'show', 'to', '10.7.0.1'];
    await endure({
      spoil: async () => {
        const port = await attachPlugged();
        link = port.link;
        await one.host.ip('addr', 'add', '10.7.0.1/24', 'dev', link);
        return port.id;
      },
      reason: 'NICInUse',
      mend: async () => {
        if ((await one.host.ip(...address)) === '') return;
        await one.host.ip('addr', 'del', '10.7.0.1/24', 'dev', link);
      },
    });
  });

  it("a port with the primary NIC's MAC is refused with PrimaryNIC", async () => {
    const { tenant, data } = world;
    const port = await tenant.createPort({ networkId: data.networkId, macAddress: primary.mac });
    // A real hypervisor would not plug two NICs with this MAC.
    one.hypervisor.hold('plug');
    await endure({
      spoil: async () => (await tenant.attach(one.serverId, { portId: port.id })).port_id,
      reason: 'PrimaryNIC',
      mend: () => detach(world, one, port.id),
      ends: ['multinic0'],
    });
    one.hypervisor.release('plug');
    await tenant.deletePort(port.id);
  });
});

describe('DOWN port', () => {
  it('a DOWN port becomes a NIC without an error', async () => {
    const { controls } = world.cloud;
    const before = await standingOf(world, one);
    const { serverId } = one;
    // Attaches and sets DOWN in one step: the operator never observes the port ACTIVE.
    const { portId } = controls.attach({ serverId, networkId: world.data.networkId });
    controls.setPortStatus({ portId, status: 'DOWN' });
    await using after = new AsyncDisposableStack();
    after.defer(() => detach(world, one, portId));
    await untilConfigured(world, one, 'multinic0', 'multinic1');
    await vi.waitFor(() => {
      const { downPortRetry, conditions } = configStatusOf(world, one);
      expect(downPortRetry?.fastAttempts).toBeGreaterThan(0);
      expect(findCondition(conditions, 'Ready')).toMatchObject({ status: 'True' });
    }, generous);
    await after.disposeAsync();
    await untilConfigured(world, one, 'multinic0');
    expect(await standingOf(world, one)).toEqual(before);
  });
});

describe('full disk', () => {
  it.each([
    ['etc/netplan', 'Configured'],
    // An agent without writable state.json reports Failed for every NIC and changes none.
    ['var/lib/multinic', 'Failed'],
  ] as const)(
    'a full disk at /%s fails the new NIC and leaves the host unchanged',
    async (at, first) => {
      await using undo = new AsyncDisposableStack();
      let disk: FullDisk | undefined;
      await endure({
        spoil: async () => {
          const { id } = await attachPlugged();
          disk = undo.use(await fillDisk(join(one.host.root, at)));
          return id;
        },
        reason: 'PersistFailed',
        first,
        mend: () => disk?.free(),
      });
    },
  );
});

describe('kubelet killed during a Job', () => {
  it('a Job whose kubelet dies is waited for and counted once, while the other node is served', async () => {
    const before = await standingOf(world, one);
    const { server } = world.business;
    await using after = new AsyncDisposableStack();
    after.defer(() => one.kubelet.startAgain());
    one.kubelet.fail('kubeletDies', `multinic-agent-${one.name}-`);
    const { port_id: port } = await attach(world, one);
    after.defer(() => detach(world, one, port));
    await vi.waitFor(() => expect(one.kubelet.alive).toBe(false), generous);
    // The running agent continues without kubelet and finishes.
    await vi.waitFor(
      async () => expect(await one.host.ip('-br', 'link')).toContain('multinic1'),
      generous,
    );
    const sent = server.audit.filter(isJob).length;
    const { port_id: another } = await attach(world, two);
    after.defer(() => detach(world, two, another));
    await untilConfigured(world, two, 'multinic0', 'multinic1');
    const [, second] = nodeConfigOf(world, one)?.status.interfaceStatuses ?? [];
    expect(second?.status).toBe('InProgress');
    one.kubelet.startAgain();
    await untilConfigured(world, one, 'multinic0', 'multinic1');
    expect(server.audit.filter(isJob)).toHaveLength(sent + 1);
    await after.disposeAsync();
    for (const worker of [one, two]) await untilConfigured(world, worker, 'multinic0');
    expect(await standingOf(world, one)).toEqual(before);
  });
});

function isJob({ verb, resource }: { readonly verb: string; readonly resource: string }): boolean {
  return verb === 'create' && resource === 'jobs';
}

describe('machine rebuilt in place', () => {
  it('a rebuilt machine is refused with WrongMachine until its Node reports the new machine ID', async () => {
    const id = 'b'.repeat(32);
    await using after = new AsyncDisposableStack();
    one.kubelet.tellsNode = false;
    after.defer(() => {
      one.kubelet.tellsNode = true;
    });
    await writeFile(join(one.host.root, 'etc/machine-id'), `${id}\n`);
    const before = await stateOf(one.host);
    const { port_id: port } = await attach(world, one);
    after.defer(() => detach(world, one, port));
    await untilNicReason(world, one, port, 'WrongMachine');
    await expectDoctor(world, 'WrongMachine');
    expect(without(await stateOf(one.host), '"ens')).toEqual(without(before, '"ens'));
    one.kubelet.tellsNode = true;
    await untilConfigured(world, one, 'multinic0', 'multinic1');
    expect(nodeConfigOf(world, one)?.status.applied).toMatchObject({ machineId: id, done: true });
    await after.disposeAsync();
    await untilConfigured(world, one, 'multinic0');
  });
});
