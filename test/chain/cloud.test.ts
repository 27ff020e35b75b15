import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { annotations, namespaces } from '../../src/api/names.ts';
import type { Reason } from '../../src/api/reasons.ts';
import { secrets } from '../../src/kube/core-resources.ts';
import { applyConfig, attach, type Edit } from '../fixtures/chain/acts.ts';
import { endure, settle } from '../fixtures/chain/faults.ts';
import {
  generous,
  nodeConfigOf,
  untilConfigIsReady,
  untilConfigReason,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';

const nobody = '00000000-0000-4000-8000-000000000000';

let world: World;
let one: Worker;
let two: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1', 'worker-2']);
  [one, two] = world.workers as [Worker, Worker];
  await settle(world);
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe('an OpenstackConfig that says something wrong about its cloud', () => {
  it.each<[what: string, reason: Reason, edit: () => Edit, delivered: () => Worker[]]>([
    [
      'an unknown cloud',
      'ContrabassError',
      () => ({ credentials: { openstackProviderID: nobody } }),
      () => [two],
    ],
    [
      'a subnet that does not exist',
      'SubnetNotFound',
      () => ({ subnetIDs: [nobody] }),
      () => [two],
    ],
    [
      'a name that no subnet has',
      'SubnetNotFound',
      () => ({ subnetIDs: [], subnetName: nobody }),
      () => [two],
    ],
    [
      'a subnet that does not exist beside one that does',
      'SubnetNotFound',
      () => ({ subnetIDs: [nobody, world.data.subnetId] }),
      () => [one, two],
    ],
    [
      'a server that does not exist beside one that does',
      'ServerNotFound',
      () => ({ vmNames: [nobody, one.serverId] }),
      () => [one, two],
    ],
  ])('%s', async (_what, reason, edit, delivered) => {
    await endure(world, {
      cause: () => applyConfig(world, one, edit()),
      told: () => untilConfigReason(world, one, reason, nobody),
      cure: () => applyConfig(world, one),
      delivered: delivered(),
    });
  });

  it('a key that does not fit the password', async () => {
    const ref = { name: 'encrypt-key', namespace: namespaces.system };
    const { client } = world.management;
    await client.create(secrets, { metadata: ref, ...holding('another 16B key!') });
    await using after = new AsyncDisposableStack();
    after.defer(() => client.delete(secrets, ref));
    const secret = { contrabassEncryptKeySecretRef: { name: ref.name, key: 'key' } };
    await endure(world, {
      cause: () => applyConfig(world, one, { secrets: secret }),
      told: () => untilConfigReason(world, one, 'ContrabassError', 'encrypt key'),
      cure: () => client.patch(secrets, ref, holding(world.cloud.encryptKey)),
      delivered: [two],
    });
  });
});

function holding(key: string) {
  return { data: { key: Buffer.from(key).toString('base64') } };
}

describe('a service that fails', () => {
  // Answers of both are kept for a while; another timeout makes another client, which has to ask.
  it.each<[what: string, reason: Reason, edit: Edit, fail: () => void]>([
    [
      'Contrabass, which is down',
      'ContrabassError',
      { settings: { contrabassTimeout: '29s' } },
      () => world.cloud.controls.fail({ service: 'contrabass', kind: 'reset' }),
    ],
    [
      'Keystone, which says 401',
      'KeystoneError',
      { settings: { openstackTimeout: '29s' } },
      () => world.cloud.controls.fail({ service: 'keystone', kind: 'status', status: 401 }),
    ],
  ])('%s', async (_what, reason, edit, fail) => {
    await endure(world, {
      cause: async () => {
        fail();
        await applyConfig(world, one, edit);
      },
      told: () => untilConfigReason(world, one, reason),
      cure: async () => {
        world.cloud.controls.heal({});
        // A password that was refused is left alone for an hour, unless somebody asks.
        await applyConfig(world, one, edit, {
          [annotations.reconcileAt]: new Date().toISOString(),
        });
      },
      delivered: [two],
    });
  });

  it('Neutron, whose lists of ports are cut off', async () => {
    await endure(world, {
      cause: () =>
        world.cloud.controls.fail({ service: 'neutron', kind: 'truncate', path: '/v2.0/ports' }),
      told: () => untilConfigReason(world, one, 'NeutronPortError'),
      cure: () => world.cloud.controls.heal({}),
      delivered: [],
    });
  });
});

/** The port of the NIC that the worker has all the time. */
function portOf(worker: Worker): string {
  return nodeConfigOf(world, worker)?.spec.interfaces?.[0]?.portId ?? '';
}

function readsOf(portId: string): number {
  return world.cloud.requests.get(`neutron GET /v2.0/ports/${portId}`) ?? 0;
}

describe('a list of ports that is not true', () => {
  it.each<[what: string, lie: () => void, delivered: () => Worker[]]>([
    [
      'has nothing in it',
      () => world.cloud.controls.fail({ service: 'neutron', kind: 'empty', path: '/v2.0/ports' }),
      () => [],
    ],
    [
      'lacks one that is there',
      () =>
        world.cloud.controls.fail({
          service: 'neutron',
          kind: 'omit',
          path: '/v2.0/ports',
          ids: [portOf(one)],
        }),
      () => [one, two],
    ],
  ])('%s removes nothing: the port is read by its id', async (_what, lie, delivered) => {
    const before = readsOf(portOf(one));
    await endure(world, {
      cause: lie,
      told: async () => {
        const port = portOf(one);
        await vi.waitFor(() => expect(readsOf(port)).toBeGreaterThan(before + 1), generous);
        await untilConfigIsReady(world, one);
      },
      cure: () => world.cloud.controls.heal({}),
      delivered: delivered(),
    });
  });

  it('removes nothing when the port cannot be read by its id either', async () => {
    const { controls } = world.cloud;
    const id = portOf(one);
    await endure(world, {
      cause: () => {
        // As a proxy says it: Neutron's own 404 has a body.
        controls.fail({
          service: 'neutron',
          kind: 'status',
          status: 404,
          path: `/v2.0/ports/${id}`,
        });
        controls.fail({ service: 'neutron', kind: 'omit', path: '/v2.0/ports', ids: [id] });
      },
      told: () => untilConfigReason(world, one, 'RemovalUnconfirmed', id),
      cure: () => controls.heal({}),
      delivered: [one, two],
    });
  });
});

it("a port that is deleted keeps its NIC until Nova's own record has lost it, too", async () => {
  const { controls } = world.cloud;
  await untilConfigured(world, one, 'multinic0');
  const { port_id: portId } = await attach(world, one);
  await untilConfigured(world, one, 'multinic0', 'multinic1');
  controls.holdNovaEvents({});
  await using after = new AsyncDisposableStack();
  after.defer(() => void controls.releaseNovaEvents({}));
  controls.deletePort({ portId });
  await untilConfigReason(world, one, 'RemovalUnconfirmed', portId);
  await untilConfigured(world, one, 'multinic0', 'multinic1');
  controls.releaseNovaEvents({});
  await untilConfigured(world, one, 'multinic0');
  await untilConfigIsReady(world, one);
});
