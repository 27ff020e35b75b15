import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  prepareBusiness,
  prepareManagement,
  registerCluster,
} from '../../../rig/chain/clusters.ts';
import { nodeConfigs, openstackConfigs } from '../../../rig/chain/kinds.ts';
import { startParts } from '../../../rig/chain/parts.ts';
import { startContrabass } from '../../../rig/cloud/start.ts';
import { type Stack, useStack } from '../../../rig/openstack/stack.ts';
import { openTenant, type Tenant } from '../../../rig/openstack/tenant.ts';
import { freePorts } from '../../../rig/parts/free-ports.ts';
import { Supervisor } from '../../../rig/parts/supervisor.ts';
import { findCondition } from '../../../src/api/condition.ts';
import type { MultiNicNodeConfig } from '../../../src/api/multinicnodeconfig.ts';
import { namespaces } from '../../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import { createReflector } from '../../../src/kube/cache/reflector.ts';
import { Store } from '../../../src/kube/cache/store.ts';
import { listenByAmqp } from '../../../src/openstack/notifications/connection.ts';
import { readNotification } from '../../../src/openstack/notifications/envelope.ts';
import { systemClock as clock, systemRandom as random } from '../../../src/time/clock.ts';
import {
  type Cluster,
  kubeconfigsOf,
  openCluster,
  provider,
  writerOf,
} from '../../fixtures/chain/world.ts';

// The operator and Viola between real OpenStack with its RabbitMQ, and a business cluster.
/** Attaches by notification; the long suite makes more. */
const count = Number(
  process.env['MULTINIC_ATTACHES'] ?? (process.env['MULTINIC_TEST_DEPTH'] === 'all' ? 50 : 20),
);
/** Poll interval of an operator without notifications, and the number of samples: attaches at random moments in the interval. */
const pollMs = 2_000;
const polledCount = 5;
/** With the NIC that a server boots with, fewer than a node may have. */
const attachesEach = 5;
const serverCount = Math.ceil(count / attachesEach);
/** Nova takes some seconds for each, and more beside other work. */
const attachLimitMs = 15_000;
const generous = { timeout: 60_000, interval: 20 };

let stack: Stack;
let tenant: Tenant;
let business: Cluster;
let management: Cluster;
let serverIds: string[];
let polledId: string;
let networkId: string;
let operatorLog: string;
const after = new AsyncDisposableStack();
/** When a notification first named a port, by port id: milliseconds since 1970. */
const told = new Map<string, number>();
/** When the business cluster first held a NIC for a port. */
const held = new Map<string, number>();

beforeAll(async () => {
  stack = after.use(await useStack((line) => process.stderr.write(`${line}\n`)));
  tenant = after.use(await openTenant(stack, 'attaches'));
  const directory = await mkdtemp(join(tmpdir(), 'multinic-attaches-'));
  after.defer(() => rm(directory, { recursive: true }));
  management = await openCluster('management', directory, after);
  business = await openCluster('business', directory, after);
  await Promise.all([prepareManagement(management.client), prepareBusiness(business.client)]);
  await registerCluster(management.client, provider, await writerOf(business.server));
  networkId = (await tenant.createNetwork({ name: 'attaches' })).id;
  const subnet = await tenant.createSubnet({ networkId, cidr: '10.77.0.0/16' });
  const names = Array.from({ length: serverCount }, (_, n) => `attaches-${n}`);
  serverIds = [];
  for (const name of names) serverIds.push((await tenant.createServer({ name })).id);
  const providerId = await startEverything(directory);
  polledId = (await tenant.createServer({ name: 'attaches-polled' })).id;
  const { keystoneUrl, projectId: projectID, username, password, domainName } = tenant;
  const target = { subnetIDs: [subnet.id] };
  await apply('attaches', {
    ...target,
    vmNames: serverIds,
    credentials: { openstackProviderID: providerId, k8sProviderID: provider, projectID },
    settings: { portBaseline: 'All' },
  });
  const every = `${pollMs}ms`;
  // Without Contrabass the operator does not know a broker.
  await apply('polled', {
    ...target,
    vmNames: [polledId],
    credentials: {
      authURL: keystoneUrl,
      username,
      password,
      domainName,
      projectID,
      k8sProviderID: provider,
    },
    settings: { portBaseline: 'All', pollFastInterval: every, pollSlowInterval: every },
  });
  await Promise.all([watchHeld(), listenBeside()]);
});

afterAll(() => after.disposeAsync());

/** Starts the parts with an operator that polls so rarely that only notifications can trigger a sync. */
async function startEverything(directory: string): Promise<string> {
  const { host, port, username, password } = stack.rabbit;
  const { username: adminId, password: adminPw, domainName } = tenant;
  const contrabass = after.use(
    await startContrabass({
      encryptKey: 'attaches-key-16b',
      keystoneUrl: stack.keystoneUrl.replace(/\/v3$/, ''),
      admin: { username: adminId, password: adminPw, domainName, projectName: '' },
      rabbit: { username, password, hosts: [`${host}:${port}`] },
    }),
  );
  const supervisor = after.use(new Supervisor(directory, clock));
  const [viola = 0, controller = 0, operator = 0, inventory = 0] = await freePorts(4);
  await startParts({
    supervisor,
    directory,
    clock,
    kubeconfigs: await kubeconfigsOf({ management, business }),
    ports: { viola, controller, operator, inventory },
    contrabassUrl: contrabass.contrabassUrl,
    encryptKey: contrabass.encryptKey,
    providers: ['*'],
    poll: '10m',
  });
  operatorLog = supervisor.logOf('operator');
  return contrabass.providerId;
}

function onMessage(body: Buffer | undefined): void {
  const one = readNotification(body);
  if (one.kind !== 'happening') return;
  for (const id of one.happening.ports) if (!told.has(id)) told.set(id, Date.now());
}

/** Records the first notification for each port, from a second listener beside the operator. */
async function listenBeside(): Promise<void> {
  const { host, port, username, password } = stack.rabbit;
  const stop = new AbortController();
  after.defer(() => stop.abort());
  const bound = Promise.withResolvers<void>();
  const address = { host, port, tls: false };
  const login = { address, username, password, virtualHost: '/', tls: {}, isTrusted: true };
  const times = { answerMs: 5_000, heartbeatSeconds: 10, bindMs: 1_000, missingMs: 1_000 };
  const listener = { onBound: () => bound.resolve(), onMessage };
  listenByAmqp(clock, times)(login, listener, stop.signal).catch(bound.reject);
  await bound.promise;
}

/** Records when the business cluster first has a NIC, from a watch like the controller's. */
async function watchHeld(): Promise<void> {
  const store = new Store<MultiNicNodeConfig>();
  store.subscribe((change) => {
    const interfaces = change.object.spec?.interfaces ?? [];
    for (const { portId = '' } of interfaces) if (!held.has(portId)) held.set(portId, Date.now());
  });
  const { client } = business;
  const reflector = createReflector({ client, resource: nodeConfigs, store, clock, random });
  const stop = new AbortController();
  const over = reflector.run(stop.signal);
  after.defer(async () => {
    stop.abort();
    await over;
  });
  await reflector.synced;
}

/** Attaches a new port; resolves to the milliseconds from the notification to the NIC in the business cluster. */
async function attach(serverId: string): Promise<number> {
  const { id } = await tenant.createPort({ networkId });
  // Notifications from now on belong to the attach.
  told.delete(id);
  await tenant.attach(serverId, { portId: id });
  await expect.poll(() => told.has(id), generous).toBe(true);
  const heldAt = await untilHeld(id);
  // The second listener may be slower than the operator.
  return Math.max(0, heldAt - (told.get(id) ?? heldAt));
}

async function untilHeld(portId: string): Promise<number> {
  try {
    await expect.poll(() => held.has(portId), generous).toBe(true);
    return held.get(portId) ?? Number.NaN;
  } catch (cause) {
    // The operator's log explains a missing delivery.
    const log = (await readFile(operatorLog, 'utf8')).split('\n').slice(-40).join('\n');
    throw new Error(`port ${portId} was not delivered; the operator's log ends with:\n${log}`, {
      cause,
    });
  }
}

async function apply(name: string, spec: OpenstackConfigSpec): Promise<void> {
  const metadata = { name, namespace: namespaces.system };
  const author = { fieldManager: 'people', force: true };
  await management.client.apply(openstackConfigs, { metadata, spec }, author);
}

async function conditionOf(name: string, type: string) {
  const ref = { name, namespace: namespaces.system };
  const object = await management.client.find(openstackConfigs, ref);
  return findCondition(object?.status?.conditions, type)?.status;
}

/** Prints how long it took; the numbers are for people, as no machine is always equally fast. */
function say(how: string, delays: readonly number[]): void {
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1];
  process.stderr.write(
    `attach to MultiNicNodeConfig ${how}, ${sorted.length} attaches: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms\n`,
  );
}

it(
  `the operator delivers each of ${serverCount * attachesEach} attaches right after the notification`,
  async () => {
    await expect
      .poll(() => conditionOf('attaches', 'Notifications'), { timeout: 60_000, interval: 100 })
      .toBe('True');
    const delays: number[] = [];
    for (let round = 0; round < attachesEach; round++) {
      for (const serverId of serverIds) delays.push(await attach(serverId));
    }
    say('by notification', delays);
    expect(delays).toHaveLength(serverCount * attachesEach);
  },
  serverCount * attachesEach * attachLimitMs,
);

it('the operator finds an attach at the next poll without a broker', async () => {
  await expect.poll(() => conditionOf('polled', 'Ready'), generous).toBeDefined();
  expect(await conditionOf('polled', 'Notifications')).toBeUndefined();
  const delays: number[] = [];
  for (let n = 0; n < polledCount; n++) delays.push(await attach(polledId));
  say(`at a poll interval of ${pollMs} ms`, delays);
  expect(delays).toHaveLength(polledCount);
}, 600_000);
