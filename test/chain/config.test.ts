import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { nodeConfigs, openstackConfigs } from '../../rig/chain/kinds.ts';
import type { Attachment } from '../../rig/openstack/tenant.ts';
import { findCondition } from '../../src/api/condition.ts';
import type { InterfaceSpec } from '../../src/api/multinicnodeconfig.ts';
import { annotations, labels, namespaces } from '../../src/api/names.ts';
import type { Reason } from '../../src/api/reasons.ts';
import { applyConfig, attach, detach, type Edit } from '../fixtures/chain/acts.ts';
import { endure, settle } from '../fixtures/chain/faults.ts';
import {
  configStatusOf,
  expectUnchanged,
  generous,
  nodeConfigObjectOf,
  nodeConfigOf,
  standingOf,
  untilConfigReason,
  untilConfigured,
} from '../fixtures/chain/waits.ts';
import { openWorld, type Worker, type World } from '../fixtures/chain/world.ts';

let world: World;
let one: Worker;
let two: Worker;
/** A worker selected by no OpenstackConfig: the test writes its object. */
let byHand: Worker;

beforeAll(async () => {
  world = await openWorld(['worker-1', 'worker-2', 'by-hand']);
  [one, two, byHand] = world.workers as [Worker, Worker, Worker];
  await settle(world);
});

afterAll(() => world?.[Symbol.asyncDispose]());

describe('the API server', () => {
  it.each<[field: string, spec: unknown]>([
    ['spec.vmNames', { vmNames: 'worker-1' }],
    ['spec.subnetIDs[0]', { subnetIDs: [7] }],
    ['spec.credentials', { credentials: null }],
    ['spec.settings.maxInterfaces', { settings: { maxInterfaces: 11 } }],
    ['spec.settings.routing', { settings: { routing: 'none' } }],
    [
      'spec.secrets.contrabassEncryptKeySecretRef.key',
      { secrets: { contrabassEncryptKeySecretRef: { name: 'key' } } },
    ],
  ])('refuses an OpenstackConfig by its field %s', async (field, spec) => {
    const { client } = world.management;
    const ref = { name: one.name, namespace: namespaces.system };
    const { metadata } = await client.get(openstackConfigs, ref);
    await expect(client.patch(openstackConfigs, ref, { spec })).rejects.toThrow(field);
    expect((await client.get(openstackConfigs, ref)).metadata.generation).toBe(metadata.generation);
  });

  it.each<[field: string, spec: unknown]>([
    ['spec.nodeName', { nodeName: null }],
    ['spec.interfaces[0].macAddress', { interfaces: [{ macAddress: 'fa:16:3e' }] }],
    [
      'spec.interfaces[0].name',
      { interfaces: [{ macAddress: 'fa:16:3e:00:00:09', name: 'eth0' }] },
    ],
    ['spec.interfaces[0].mtu', { interfaces: [{ macAddress: 'fa:16:3e:00:00:09', mtu: 10 }] }],
  ])('refuses a MultiNicNodeConfig by its field %s', async (field, spec) => {
    const { client } = world.business;
    const ref = { name: one.name, namespace: namespaces.system };
    const { metadata } = await client.get(nodeConfigs, ref);
    await expect(client.patch(nodeConfigs, ref, { spec })).rejects.toThrow(field);
    expect((await client.get(nodeConfigs, ref)).metadata.generation).toBe(metadata.generation);
  });
});

it('/configz shows the source and value of each setting, and redacts secrets', async () => {
  const settings = await (await fetch(`${world.inventoryUrl}/configz`)).json();
  expect(settings).toMatchObject({
    pollFastInterval: { value: 1_000, from: '--poll-fast-interval' },
    logLevel: { value: 'info', from: 'LOG_LEVEL' },
    contrabassEncryptKey: { value: 'redacted', from: 'CONTRABASS_ENCRYPT_KEY' },
    dbPort: { from: 'default' },
  });
  const version = await (await fetch(`${world.inventoryUrl}/version`)).json();
  expect(version).toMatchObject({ node: process.version, agentProtocols: [1, 2, 3, 4, 5, 6] });
});

describe('an OpenstackConfig beyond schema validation', () => {
  it.each<[what: string, reason: Reason, words: readonly string[], edit: Edit]>([
    [
      'several unusable fields (all named with their values)',
      'ConfigError',
      [
        'spec.vmNames[0] is blank',
        'spec.settings.pollFastInterval "soon"',
        'spec.settings.addressFamilies is empty; use [IPv4], [IPv6] or both',
      ],
      {
        vmNames: [' '],
        settings: { pollFastInterval: 'soon', addressFamilies: [] },
      },
    ],
    ['no subnet', 'SubnetRequired', ['subnetIDs, subnetID or subnetName'], { subnetIDs: [] }],
  ])('%s: reported on the OpenstackConfig, NICs stay', async (_what, reason, words, edit) => {
    await endure(world, {
      cause: () => applyConfig(world, one, edit),
      untilReported: () => untilConfigReason(world, one, reason, ...words),
      cure: () => applyConfig(world, one),
      delivered: [two],
      reason,
    });
  });
});

it('mode Observe delivers a new port and changes nothing on the host, until mode Apply', async () => {
  await untilConfigured(world, one, 'multinic0');
  const { interfaces: _, ...before } = await standingOf(world, one);
  await using after = new AsyncDisposableStack();
  after.defer(() => applyConfig(world, one));
  await applyConfig(world, one, { settings: { mode: 'Observe' } });
  const { port_id } = await attach(world, one);
  after.defer(() => detach(world, one, port_id));
  await vi.waitFor(() => {
    const { spec, metadata } = nodeConfigObjectOf(world, one) ?? {};
    expect(spec).toMatchObject({ mode: 'Observe', interfaces: [{}, { portId: port_id }] });
    expect(metadata?.annotations).toMatchObject({ [annotations.paused]: 'true' });
    const { conditions } = configStatusOf(world, one);
    for (const type of ['Ready', 'NICsReady']) {
      expect(findCondition(conditions, type)).toMatchObject({
        status: 'Unknown',
        reason: 'Observed',
      });
    }
  }, generous);
  const { interfaces: _now, ...host } = await standingOf(world, one);
  expect(host).toEqual(before);
  await applyConfig(world, one);
  await untilConfigured(world, one, 'multinic0', 'multinic1');
  expect(nodeConfigObjectOf(world, one)?.metadata.annotations).not.toHaveProperty([
    annotations.paused,
  ]);
  await after.disposeAsync();
  await untilConfigured(world, one, 'multinic0');
});

type Entry = InterfaceSpec & { readonly address: string };

function entryOf({ port_id, mac_addr, fixed_ips }: Attachment, id: number): Entry {
  const address = fixed_ips[0]?.ip_address ?? '';
  const place = { address, cidr: '10.0.0.0/24', mtu: 1450 };
  return { id, name: `multinic${id}`, portId: port_id, macAddress: mac_addr, ...place };
}

describe('a MultiNicNodeConfig beyond schema validation', () => {
  const ref = { name: 'by-hand', namespace: namespaces.system };

  it('a refused entry is reported with its reason, its NIC stays, and the remaining entries are applied', async () => {
    const { client } = world.business;
    const empty = await standingOf(world, byHand);
    await using after = new AsyncDisposableStack();
    const ports = [];
    for (let n = 0; n < 3; n++) {
      const port = await attach(world, byHand);
      after.defer(() => detach(world, byHand, port.port_id));
      ports.push(port);
    }
    const [first, second, third] = ports.map(entryOf) as [Entry, Entry, Entry];
    const write = async (...interfaces: readonly Entry[]): Promise<void> => {
      const spec = { nodeName: ref.name, instanceId: byHand.serverId, interfaces: [...interfaces] };
      await client.apply(nodeConfigs, { metadata: ref, spec }, { fieldManager: 'people' });
    };
    await write(first, second);
    after.defer(() => client.delete(nodeConfigs, ref));
    await untilConfigured(world, byHand, 'multinic0', 'multinic1');
    const before = await standingOf(world, byHand);

    await write(first, { ...second, address: '10.9.9.9' }, third);
    await vi.waitFor(() => {
      const { conditions, interfaceStatuses } = nodeConfigOf(world, byHand)?.status ?? {};
      const message = 'interfaces[1].address: 10.9.9.9 is not in cidr 10.0.0.0/24';
      const accepted = { status: 'False', reason: 'InvalidEntries', message };
      expect(findCondition(conditions, 'Accepted')).toMatchObject(accepted);
      expect(findCondition(conditions, 'Ready')).toMatchObject(accepted);
      expect(interfaceStatuses).toMatchObject([
        { name: 'multinic0', status: 'Configured' },
        { name: 'multinic1', status: 'Failed', reason: 'InvalidEntry', message },
        { name: 'multinic2', status: 'Configured' },
      ]);
    }, generous);
    const { interfaces: _, ...host } = await standingOf(world, byHand);
    expectUnchanged({ ...host, interfaces: before.interfaces }, before);

    await write(first, second, third);
    await untilConfigured(world, byHand, 'multinic0', 'multinic1', 'multinic2');
    await after.disposeAsync();
    await vi.waitFor(() => expect(nodeConfigOf(world, byHand)).toBeUndefined(), generous);
    expect(await standingOf(world, byHand)).toEqual(empty);
  });
});

/** Returns the agent Jobs for the worker `by-hand`. */
function jobsOfHand() {
  const jobs = world.business.server.objects('jobs.batch', namespaces.agents);
  return jobs.filter(({ metadata }) =>
    metadata.annotations?.[annotations.config]?.endsWith('/by-hand'),
  );
}

/** Returns the actions of all newer Jobs. */
function actionsSince(names: ReadonlySet<string>) {
  const created = jobsOfHand().filter(({ metadata }) => !names.has(metadata.name));
  return created.map(({ metadata }) => metadata.labels?.[labels.action]);
}

describe('a MultiNicNodeConfig in mode Observe', () => {
  const ref = { name: 'by-hand', namespace: namespaces.system };

  it('the node is checked and not changed, and is configured in mode Apply', async () => {
    const { client } = world.business;
    await using after = new AsyncDisposableStack();
    const port = await attach(world, byHand);
    after.defer(() => detach(world, byHand, port.port_id));
    const interfaces = [entryOf(port, 0)];
    const spec = { nodeName: ref.name, instanceId: byHand.serverId, interfaces };
    const author = { fieldManager: 'people' };
    const host = await standingOf(world, byHand);
    const earlier = new Set(jobsOfHand().map(({ metadata }) => metadata.name));

    const paused = { ...ref, annotations: { [annotations.paused]: 'true' } };
    const observed = { metadata: paused, spec: { ...spec, mode: 'Observe' as const } };
    await client.apply(nodeConfigs, observed, author);
    after.defer(() => client.delete(nodeConfigs, ref));
    await vi.waitFor(() => {
      const { state, summary, applied, conditions } = nodeConfigOf(world, byHand)?.status ?? {};
      expect({ state, nics: summary?.nics }).toEqual({ state: 'Observed', nics: '0/1' });
      expect(applied).toMatchObject({ action: 'check' });
      expect(applied).toHaveProperty('checkedAt');
      expect(findCondition(conditions, 'Ready')).toMatchObject({ reason: 'Observed' });
      expect(findCondition(conditions, 'Paused')).toBeUndefined();
    }, generous);
    expect(new Set(actionsSince(earlier))).toEqual(new Set(['check']));
    expect(await standingOf(world, byHand)).toEqual({ ...host, interfaces });

    await client.apply(nodeConfigs, { metadata: ref, spec }, author);
    await untilConfigured(world, byHand, 'multinic0');
    expect(actionsSince(earlier)).toContain('apply');
    await after.disposeAsync();
    await vi.waitFor(() => expect(nodeConfigOf(world, byHand)).toBeUndefined(), generous);
  });
});
