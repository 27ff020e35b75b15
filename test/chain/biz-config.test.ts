import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { Attachment } from '../../rig/openstack/tenant.ts';
import { findCondition } from '../../src/api/condition.ts';
import type { BizNode } from '../../src/api/multinicbizconfig.ts';
import { labels, namespaces } from '../../src/api/names.ts';
import { bizConfigsIn } from '../../src/biz-config/biz-config.ts';
import { specManagers } from '../../src/biz-config/ownership.ts';
import { cliMain } from '../../src/cli/main-cli.ts';
import { applyConfig, attach } from '../fixtures/chain/acts.ts';
import { generous, nodeConfigObjectOf, untilConfigured } from '../fixtures/chain/waits.ts';
import { openWorld, provider, type Worker, type World } from '../fixtures/chain/world.ts';
import { Observer } from '../fixtures/lives/observer.ts';
import { type HostState, stateOf } from '../host/host-state.ts';

const ref = { name: 'legacy', namespace: namespaces.system };
const bizConfigs = bizConfigsIn('multinic.io');

let world: World;
let one: Worker;
let two: Worker;
let observer: Observer;
const observing = new AbortController();
let observed: Promise<void>;

beforeAll(async () => {
  // A MultiNicBizConfig leaves objects without source.
  const env = { LEGACY_TAKE_OVER: namespaces.system };
  world = await openWorld(['worker-1', 'worker-2'], { env });
  [one, two] = world.workers as [Worker, Worker];
  await writeFile(kubeconfig(), await world.business.server.kubeconfig(), { mode: 0o600 });
  observer = new Observer(world);
  observed = observer.run(observing.signal);
});

afterAll(async () => {
  observing.abort();
  await observed;
  await world?.[Symbol.asyncDispose]();
});

afterEach(() => {
  vi.restoreAllMocks();
});

function kubeconfig(): string {
  return join(world.directory, 'admin.kubeconfig');
}

/** Runs `multinic migrate biz-config`, expects exit status 0, and returns the output. */
async function migrate(verb: string, ...argv: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  vi.spyOn(console, 'log').mockImplementation(note);
  vi.spyOn(console, 'error').mockImplementation(note);
  const access = ['--kubeconfig', kubeconfig()];
  const status = await cliMain('migrate', ['biz-config', verb, ref.name, ...access, ...argv]);
  expect(status, lines.join('\n')).toBe(0);
  return lines.join('\n');
}

function entryOf({ serverId, name }: Worker, ports: readonly Attachment[]): BizNode {
  const interfaces = ports.map(({ port_id, mac_addr, fixed_ips }) => ({
    portId: port_id,
    macAddress: mac_addr,
    address: fixed_ips[0]?.ip_address ?? '',
    cidr: '10.0.0.0/24',
    mtu: 1450,
  }));
  return { attachedNodeId: serverId, attachedNodeName: name, interfaces };
}

/** Returns how many agent Jobs were created until now. */
function jobs(): number {
  return world.business.server.audit.filter(
    ({ verb, resource, status }) =>
      verb === 'create' && resource === 'jobs.batch' && status === 201,
  ).length;
}

function labelled(): readonly string[] {
  return world.workers.flatMap((worker) => {
    const { metadata } = nodeConfigObjectOf(world, worker) ?? {};
    return metadata?.labels?.[labels.bizConfig] === undefined ? [] : [worker.name];
  });
}

/** NICs, routes, rules and files on both hosts. */
async function hosts(): Promise<readonly HostState[]> {
  return Promise.all(world.workers.map(({ host }) => stateOf(host)));
}

it('a MultiNicBizConfig of two nodes becomes Configured on real agents', async () => {
  const nodeConfigs = [
    entryOf(one, [await attach(world, one)]),
    entryOf(two, [await attach(world, two)]),
  ];
  const spec = { providerId: provider, nodeConfigs };
  await world.business.client.create(bizConfigs, { metadata: ref, spec });
  await vi.waitFor(async () => {
    const { status } = await world.business.client.get(bizConfigs, ref);
    expect(findCondition(status?.conditions, 'Applied')?.status).toBe('True');
    expect(status?.nodeStatuses).toMatchObject([
      { attachedNodeName: 'worker-1', state: 'Configured' },
      { attachedNodeName: 'worker-2', state: 'Configured' },
    ]);
  }, generous);
  expect(labelled()).toEqual(['worker-1', 'worker-2']);
});

it('the migration of a MultiNicBizConfig starts no agent and changes no host', async () => {
  const [before, started] = [await hosts(), jobs()];
  expect(await migrate('apply', '--yes')).toContain('removed the label of 2 objects');
  expect(labelled()).toEqual([]);
  expect(await migrate('verify')).toContain('2 of 2 nodes verified.');
  expect(jobs()).toBe(started);
  expect(await hosts()).toEqual(before);
});

it('Viola takes the nodes over, including a port attached in between, and NIC names stay', async () => {
  await attach(world, one);
  for (const worker of world.workers)
    await applyConfig(world, worker, { settings: { portBaseline: 'All' } });
  await untilConfigured(world, one, 'multinic0', 'multinic1');
  await untilConfigured(world, two, 'multinic0');
  for (const worker of world.workers) {
    await vi.waitFor(() => {
      expect([...specManagers(nodeConfigObjectOf(world, worker))]).toContain('viola');
    }, generous);
  }
  expect(await migrate('verify')).toContain('2 of 2 nodes verified.');
});

it('NICs stay configured without interruption when the MultiNicBizConfig is deleted', async () => {
  const [before, started] = [await hosts(), jobs()];
  const { client } = world.business;
  await client.delete(bizConfigs, ref);
  await vi.waitFor(async () => expect(await client.find(bizConfigs, ref)).toBeUndefined());
  await untilConfigured(world, one, 'multinic0', 'multinic1');
  await untilConfigured(world, two, 'multinic0');
  expect(await hosts()).toEqual(before);
  expect(jobs()).toBe(started);
  expect(observer.flaws).toEqual([]);
});
