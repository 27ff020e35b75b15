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

const unknownId = '00000000-0000-4000-8000-000000000000';

let world: World;
let one: Worker;
let two: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1', 'worker-2']);
  [one, two] = world.workers as [Worker, Worker];
  await settle(world);
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe('an OpenstackConfig with a wrong value about its cloud', () => {
  it.each<[what: string, reason: Reason, edit: () => Edit, delivered: () => Worker[]]>([
    [
      'an unknown cloud',
      'ContrabassError',
      () => ({ credentials: { openstackProviderID: unknownId } }),
      () => [two],
    ],
    ['an unknown subnet ID', 'SubnetNotFound', () => ({ subnetIDs: [unknownId] }), () => [two]],
    [
      'an unknown subnet name',
      'SubnetNotFound',
      () => ({ subnetIDs: [], subnetName: unknownId }),
      () => [two],
    ],
    [
      'an unknown subnet beside an existing subnet',
      'SubnetNotFound',
      () => ({ subnetIDs: [unknownId, world.data.subnetId] }),
      () => [one, two],
    ],
    [
      'an unknown server beside an existing server',
      'ServerNotFound',
      () => ({ vmNames: [unknownId, one.serverId] }),
      () => [one, two],
    ],
  ])(
    '%s is reported on the OpenstackConfig, and NICs stay',
    async (_what, reason, edit, delivered) => {
      await endure(world, {
        cause: () => applyConfig(world, one, edit()),
        untilReported: () => untilConfigReason(world, one, reason, unknownId),
        cure: () => applyConfig(world, one),
        delivered: delivered(),
        reason,
      });
    },
  );

  it('an encrypt key unfit for the password gives ContrabassError, and the other worker gets NICs', async () => {
    const ref = { name: 'encrypt-key', namespace: namespaces.system };
    const { client } = world.management;
    await client.create(secrets, { metadata: ref, ...holding('another 16B key!') });
    await using after = new AsyncDisposableStack();
    after.defer(() => client.delete(secrets, ref));
    const secret = { contrabassEncryptKeySecretRef: { name: ref.name, key: 'key' } };
    await endure(world, {
      cause: () => applyConfig(world, one, { secrets: secret }),
      untilReported: () => untilConfigReason(world, one, 'ContrabassError', 'encrypt key'),
      cure: () => client.patch(secrets, ref, holding(world.cloud.encryptKey)),
      delivered: [two],
      reason: 'ContrabassError',
    });
  });
});

function holding(key: string) {
  return { data: { key: Buffer.from(key).toString('base64') } };
}

describe('a failing cloud service', () => {
  // The operator caches answers from both services. A changed timeout makes a new client without cache.
  it.each<[what: string, reason: Reason, edit: Edit, fail: () => void]>([
    [
      'Contrabass down',
      'ContrabassError',
      { settings: { contrabassTimeout: '29s' } },
      () => world.cloud.controls.fail({ service: 'contrabass', kind: 'reset' }),
    ],
    [
      'Keystone answering 401',
      'KeystoneError',
      { settings: { openstackTimeout: '29s' } },
      () => world.cloud.controls.fail({ service: 'keystone', kind: 'status', status: 401 }),
    ],
  ])('%s is reported on the OpenstackConfig, and NICs stay', async (_what, reason, edit, fail) => {
    await endure(world, {
      cause: async () => {
        fail();
        await applyConfig(world, one, edit);
      },
      untilReported: () => untilConfigReason(world, one, reason),
      cure: async () => {
        world.cloud.controls.heal({});
        // A refused password blocks logins for 1 h; the reconcile-at annotation lifts the block.
        await applyConfig(world, one, edit, {
          [annotations.reconcileAt]: new Date().toISOString(),
        });
      },
      delivered: [two],
      reason,
    });
  });

  it('truncated port lists from Neutron give NeutronPortError, and no NIC is removed', async () => {
    await endure(world, {
      cause: () =>
        world.cloud.controls.fail({ service: 'neutron', kind: 'truncate', path: '/v2.0/ports' }),
      untilReported: () => untilConfigReason(world, one, 'NeutronPortError'),
      cure: () => world.cloud.controls.heal({}),
      delivered: [],
      reason: 'NeutronPortError',
    });
  });
});

/** Returns the port ID of the worker's permanent NIC. */
function portOf(worker: Worker): string {
  return nodeConfigOf(world, worker)?.spec.interfaces?.[0]?.portId ?? '';
}

function readsOf(portId: string): number {
  return world.cloud.requests.get(`neutron GET /v2.0/ports/${portId}`) ?? 0;
}

describe('a wrong port list', () => {
  it.each<[what: string, lie: () => void, delivered: () => Worker[]]>([
    [
      'an empty port list',
      () => world.cloud.controls.fail({ service: 'neutron', kind: 'empty', path: '/v2.0/ports' }),
      () => [],
    ],
    [
      'a port list without an attached port',
      () =>
        world.cloud.controls.fail({
          service: 'neutron',
          kind: 'omit',
          path: '/v2.0/ports',
          ids: [portOf(one)],
        }),
      () => [one, two],
    ],
  ])('%s removes no NIC: the operator reads the port by ID', async (_what, lie, delivered) => {
    const before = readsOf(portOf(one));
    await endure(world, {
      cause: lie,
      untilReported: async () => {
        const port = portOf(one);
        await vi.waitFor(() => expect(readsOf(port)).toBeGreaterThan(before + 1), generous);
        await untilConfigIsReady(world, one);
      },
      cure: () => world.cloud.controls.heal({}),
      delivered: delivered(),
    });
  });

  it('a port missing by list and by ID keeps its NIC', async () => {
    const { controls } = world.cloud;
    const id = portOf(one);
    await endure(world, {
      cause: () => {
        // A bare 404 as from a proxy. Neutron's own 404 has a body.
        controls.fail({
          service: 'neutron',
          kind: 'status',
          status: 404,
          path: `/v2.0/ports/${id}`,
        });
        controls.fail({ service: 'neutron', kind: 'omit', path: '/v2.0/ports', ids: [id] });
      },
      untilReported: () => untilConfigReason(world, one, 'RemovalUnconfirmed', id),
      cure: () => controls.heal({}),
      delivered: [one, two],
    });
  });
});

it("a deleted port keeps its NIC until the port vanishes from Nova's record, too", async () => {
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
