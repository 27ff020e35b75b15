import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareBusiness, prepareManagement, registerCluster } from '../../rig/chain/clusters.ts';
import { nodeConfigs, openstackConfigs } from '../../rig/chain/kinds.ts';
import { startParts } from '../../rig/chain/parts.ts';
import { startContrabass } from '../../rig/cloud/start.ts';
import { type Stack, useStack } from '../../rig/openstack/stack.ts';
import { openTenant, type Tenant } from '../../rig/openstack/tenant.ts';
import { freePorts } from '../../rig/parts/free-ports.ts';
import { Supervisor } from '../../rig/parts/supervisor.ts';
import { findCondition } from '../../src/api/condition.ts';
import { namespaces } from '../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../src/api/openstackconfig.ts';
import { listenByAmqp } from '../../src/openstack/notifications/connection.ts';
import { readNotification } from '../../src/openstack/notifications/envelope.ts';
import { systemClock as clock } from '../../src/time/clock.ts';
import { type Cluster, kubeconfigsOf, openCluster, provider, writerOf } from '../chain/world.ts';

// The operator and Viola between real OpenStack with its RabbitMQ, and a business cluster.
const count = Number(process.env['MULTINIC_ATTACHES'] ?? 50);
/** With the NIC that a server boots with, fewer than a node may have. */
const attachesEach = 5;
const serverCount = Math.ceil(count / attachesEach);
const generous = { timeout: 60_000, interval: 5 };

let stack: Stack;
let tenant: Tenant;
let business: Cluster;
let management: Cluster;
let serverIds: string[];
let networkId: string;
let operatorLog: string;
const after = new AsyncDisposableStack();
/** When a notification first named a port, by port id: milliseconds since 1970. */
const told = new Map<string, number>();

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
  const spec: OpenstackConfigSpec = {
    subnetIDs: [subnet.id],
    vmNames: serverIds,
    credentials: {
      openstackProviderID: providerId,
      k8sProviderID: provider,
      projectID: tenant.projectId,
    },
    settings: { portBaseline: 'All' },
  };
  const metadata = { name: 'attaches', namespace: namespaces.system };
  const author = { fieldManager: 'people', force: true };
  await management.client.apply(openstackConfigs, { metadata, spec }, author);
});

afterAll(() => after.disposeAsync());

/** Starts the parts, with an operator that polls so rarely that only notifications can tell it anything. */
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

/** Notes when each port is named first, as somebody who listens beside the operator. */
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

/** Ids of the ports that the business cluster holds NICs for. */
async function heldPorts(): Promise<Set<string>> {
  const { items } = await business.client.list(nodeConfigs, {
    namespace: namespaces.system,
  });
  return new Set(
    items.flatMap(({ spec }) => spec?.interfaces ?? []).map(({ portId = '' }) => portId),
  );
}

async function untilHeld(portId: string): Promise<number> {
  try {
    await expect.poll(async () => (await heldPorts()).has(portId), generous).toBe(true);
    return Date.now();
  } catch (cause) {
    // Without what the operator said meanwhile nobody could tell why.
    const log = (await readFile(operatorLog, 'utf8')).split('\n').slice(-40).join('\n');
    throw new Error(`port ${portId} was not delivered; the operator's log ends with:\n${log}`, {
      cause,
    });
  }
}

async function listens() {
  const ref = { name: 'attaches', namespace: namespaces.system };
  const object = await management.client.find(openstackConfigs, ref);
  return findCondition(object?.status?.conditions, 'Notifications')?.status;
}

it(`delivers each of ${serverCount * attachesEach} attaches as soon as it is told of it`, async () => {
  await expect.poll(listens, { timeout: 60_000, interval: 100 }).toBe('True');
  await listenBeside();
  const delays: number[] = [];
  for (let round = 0; round < attachesEach; round++) {
    for (const serverId of serverIds) {
      const { id } = await tenant.createPort({ networkId });
      // What is said of it from now on is said of the attach.
      told.delete(id);
      await tenant.attach(serverId, { portId: id });
      const heldAt = await untilHeld(id);
      // Whoever listens beside may hear it later.
      delays.push(Math.max(0, heldAt - (told.get(id) ?? heldAt)));
    }
  }
  delays.sort((a, b) => a - b);
  const at = (share: number) => delays[Math.ceil(share * delays.length) - 1];
  process.stderr.write(
    `notification to MultiNicNodeConfig, ${delays.length} attaches: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms\n`,
  );
  expect(delays).toHaveLength(serverCount * attachesEach);
}, 600_000);
