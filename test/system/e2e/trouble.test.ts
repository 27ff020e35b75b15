import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import {
  annotate,
  applyConfig,
  attach,
  expectGone,
  generous,
  untilConfigured,
} from '../../fixtures/e2e/acts.ts';
import { helmInstall, namespaces } from '../../fixtures/e2e/installation.ts';
import { foreignState, ourState } from '../../fixtures/e2e/kernel-state.ts';
import { agentHasDied, letAgentDieAt } from '../../fixtures/e2e/mortal-image.ts';
import {
  configCondition,
  endOf,
  nicStates,
  nodeConfigOf,
  requestsOf,
} from '../../fixtures/e2e/observed.ts';
import { plantForeignState } from '../../fixtures/e2e/planted.ts';
import {
  type DeployedChain,
  installCharts,
  openWorld,
  withMortalAgent,
} from '../../fixtures/e2e/world.ts';
import { inTurn } from '../../rotation.ts';

const run = promisify(execFile);
const openstack = join(import.meta.dirname, '../../..', 'rig', 'openstack', 'openstack');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Servers of foreign worlds are in a different zone: this nova-compute may stop. */
const zone = 'compute2';
const compute = `nova-compute-${zone}`;

let world: DeployedChain;
let before: Awaited<ReturnType<typeof endOf>>;

beforeAll(async () => {
  world = await openWorld(say, { type: 'production', mortalAgent: true, zone });
  await plantForeignState(world.node);
  await applyConfig(world, [world.server.id]);
  await attach(world);
  await untilConfigured(world, 'multinic0');
  await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilReady();
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  before = await endOf(world);
});

async function untilReady(): Promise<void> {
  await vi.waitFor(
    async () => expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'True' }),
    generous,
  );
}

async function untilNotReady(reason: string): Promise<void> {
  await vi.waitFor(
    async () =>
      expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'False', reason }),
    generous,
  );
}

/** Expects no change on the node and in the object's spec. */
async function expectNothingLost(): Promise<void> {
  const { nodeConfig, host } = await endOf(world);
  expect(host).toEqual(before.host);
  expect(nodeConfig).toEqual(before.nodeConfig);
}

/** Expects the initial state. */
async function untilAsBefore(): Promise<void> {
  await vi.waitFor(async () => expect(await endOf(world)).toEqual(before), generous);
}

/** Has a refused account tried again. */
async function tryAgain(): Promise<void> {
  await annotate(world, `multinic.io/reconcile-at=${Date.now()}`);
}

/** Each failure ends in the initial state. */
const act = inTurn('trouble', 3, (title: string, test: () => Promise<void>) => it(title, test));

act(
  'a project that Keystone does not give costs no NIC, and the right one is taken again',
  async () => {
    await applyConfig(world, [world.server.id], { projectID: '0123456789abcdef0123456789abcdef' });
    await untilNotReady('KeystoneError');
    await expectNothingLost();
    await applyConfig(world, [world.server.id]);
    await untilAsBefore();
  },
);

act("a port that Neutron has deleted keeps its NIC until Nova's event arrives", async () => {
  const { hypervisor, tenant } = world;
  await using after = new AsyncDisposableStack();
  const { port_id: portId } = await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
  await untilReady();
  const host = await ourState(world.node);
  await run(openstack, ['stop', compute]);
  let isUp = false;
  const bringUp = async (): Promise<void> => {
    if (!isUp) await run(openstack, ['up']);
    isUp = true;
  };
  after.defer(bringUp);
  hypervisor.hold('unplug');
  after.defer(() => hypervisor.release('unplug'));
  await tenant.deletePort(portId);
  await untilNotReady('RemovalUnconfirmed');
  expect(await ourState(world.node)).toEqual(host);
  await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
  await bringUp();
  await untilConfigured(world, 'multinic0', 'multinic1');
  await expectGone(world, 'multinic2');
  await untilAsBefore();
});

act('a role that is revoked costs no NIC, and all goes on when it is granted again', async () => {
  const { account, parts } = world;
  await account.revoke('member');
  // OpenStack services cache a valid token for minutes; a new operator requests a new token.
  await parts.kill('operator');
  await parts.restart('operator');
  await untilNotReady('KeystoneError');
  await expectNothingLost();
  await account.grant('member');
  await tryAgain();
  await untilAsBefore();
});

act('a kubelet that stops in mid-Job and comes back to a Node that was NotReady', async () => {
  const { node, parts, server, tenant } = world;
  const foreign = await foreignState(node);
  const jobs = await jobsMade();
  const [{ port_id: portId }] = await Promise.all([
    attach(world),
    parts.logged('controller', '"effect":"controller.job.create"').then(async () => {
      await node.sh(['systemctl', 'stop', 'kubelet']);
    }),
  ]);
  await vi.waitFor(async () => expect(await nodeIsReady()).toBe('Unknown'), generous);
  await node.sh(['systemctl', 'start', 'kubelet']);
  await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
  expect(await foreignState(node)).toEqual(foreign);
  // Limits retries: only the initial Job and the successors.
  expect((await jobsMade()) - jobs).toBeLessThanOrEqual(3);
  await tenant.detach(server.id, portId);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilAsBefore();
});

act('a reboot, an edit and a restart of networkd leave what is wanted', async () => {
  const { node, server, tenant } = world;
  await node.reboot();
  await plantForeignState(node);
  const { port_id: portId } = await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
  const { host } = await endOf(world);
  await node.sh(['systemctl', 'restart', 'systemd-networkd']);
  const links = async () => node.sh(['networkctl', 'list', '--no-legend']);
  await vi.waitFor(
    async () => expect(await links()).not.toMatch(/configuring|initialized|pending/),
    generous,
  );
  // networkd removes foreign rules when it restarts.
  await plantForeignState(node);
  expect((await endOf(world)).host).toEqual(host);
  await tenant.detach(server.id, portId);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await untilAsBefore();
});

act(
  'an agent that dies between its changes and its file leaves what the next one brings to the end',
  async () => {
    const { node, server, tenant, data } = world;
    const port = await tenant.createPort({ networkId: data.networkId });
    const otherNames = `[Match]\nMACAddress=${port.mac_address}\n[Link]\nAlternativeName=ens7\nAlternativeName=enp0s7\n`;
    const slot = '/etc/systemd/network/50-slot.link';
    await node.sh(['tee', slot], otherNames);
    await node.sh(['udevadm', 'control', '--reload']);
    await letAgentDieAt(node, 'agent.kernel.batch after 1');
    await tenant.attach(server.id, { portId: port.id });
    await untilConfigured(world, 'multinic0', 'multinic1', 'multinic2');
    expect(await agentHasDied(node)).toBe(true);
    expect(await node.sh(['ip', 'link', 'show', 'dev', 'enp0s7'])).toContain('multinic2');
    await tenant.detach(server.id, port.id);
    await untilConfigured(world, 'multinic0', 'multinic1');
    await expectGone(world, 'multinic2');
    await node.sh(['rm', slot]);
    await untilAsBefore();
  },
);

act('a node that is rebuilt in place gets its NICs again, by their names', async () => {
  const { node } = world;
  const was = (await nodeConfigOf(world))?.status?.applied?.machineId;
  await node.sh(['sh', '-ec', rebuild]);
  await node.cut();
  await node.start();
  await plantForeignState(node);
  await vi.waitFor(async () => {
    const applied = (await nodeConfigOf(world))?.status?.applied;
    expect(applied).toMatchObject({ done: true });
    expect(applied?.machineId).not.toBe(was);
  }, generous);
  await untilAsBefore();
});

act(
  "an agent's image that is not there is told by its name, and all goes on when it is",
  async () => {
    const { server, tenant } = world;
    const agentImage = 'localhost/multinic-agent:nowhere';
    await installCharts(world, {
      type: 'production',
      values: withMortalAgent({ ...soon, agentImage }),
    });
    const { port_id: portId } = await attach(world);
    await vi.waitFor(async () => {
      const ready = (await nodeConfigOf(world))?.status?.conditions?.find(isReady);
      expect(ready).toMatchObject({ status: 'False', reason: 'ImagePullFailed' });
      expect(ready?.message).toContain(agentImage);
    }, patient);
    await installCharts(world, { type: 'production', values: withMortalAgent(soon) });
    await vi.waitFor(async () => expect(await nicStates(world)).toMatchObject(three), patient);
    await tenant.detach(server.id, portId);
    await untilAsBefore();
  },
);

act(
  'a namespace that lets no agent in is named by its event, and all goes on when it does',
  async () => {
    const { business, server, tenant } = world;
    await installCharts(world, { type: 'production', values: withMortalAgent(soon) });
    const enforce = async (level: string) => {
      const label = `pod-security.kubernetes.io/enforce=${level}`;
      await business.kubectl(['label', 'namespace', agents, label, '--overwrite']);
    };
    await enforce('restricted');
    const { port_id: portId } = await attach(world);
    await vi.waitFor(async () => {
      const ready = (await nodeConfigOf(world))?.status?.conditions?.find(isReady);
      expect(ready).toMatchObject({ status: 'False', reason: 'NotStarted' });
    }, patient);
    expect(await business.kubectl(['get', 'events', '-n', agents])).toContain(
      'violates PodSecurity "restricted:latest": host namespaces (hostNetwork=true)',
    );
    await enforce('privileged');
    await vi.waitFor(async () => expect(await nicStates(world)).toMatchObject(three), patient);
    await installCharts(world, { type: 'production', values: withMortalAgent() });
    await tenant.detach(server.id, portId);
    await untilAsBefore();
  },
);

act(
  'a rule that somebody takes away is told as an event, and helm puts it back when it is told to',
  async () => {
    const { business, parts } = world;
    const home = ['-n', namespaces.business];
    const role = [...home, 'role', 'multinic-controller'];
    const patch = '[{"op":"remove","path":"/rules/0"}]';
    await business.kubectl(['patch', ...role, '--type=json', '-p', patch]);
    await parts.deletePods('controller');
    await vi.waitFor(async () => {
      const told = await business.kubectl(['get', 'events', ...home]);
      expect(told).toContain('RightsMissing');
    }, patient);
    await expectNothingLost();
    const installed = { type: 'production', values: withMortalAgent() } as const;
    await expect(installCharts(world, installed)).rejects.toThrow('conflict with "kubectl-patch"');
    await installCharts(world, { ...installed, force: true });
    await parts.ready('controller');
    await untilAsBefore();
  },
);

act('a second release in a cluster is refused before it changes anything', async () => {
  const { management: cluster, directory } = world;
  const second = { cluster, chart: 'multinic-operator', namespace: 'second' } as const;
  await expect(helmInstall(directory, { ...second, wait: false })).rejects.toThrow(
    /cannot be imported into the current release/,
  );
  await expectNothingLost();
});

act(
  'Secrets by which operator and Viola know each other are made again when they are gone',
  async () => {
    const { management, server, tenant } = world;
    const gone = [
      'viola-api-tokens',
      'multinic-operator-viola-token',
      'viola-api-tls',
      'multinic-ca',
    ];
    await management.kubectl(['-n', namespaces.management, 'delete', 'secret', ...gone]);
    const { port_id: portId } = await attach(world);
    await vi.waitFor(async () => expect(await nicStates(world)).toMatchObject(three), patient);
    await tenant.detach(server.id, portId);
    await vi.waitFor(async () => expect(await endOf(world)).toEqual(before), patient);
  },
);

const agents = 'multinic-agents';
/** The shortest start deadline, for tests whose agents never begin. */
const soon = { startDeadline: '30s' } as const;
/** A start deadline, or what kubelets need to bring a Secret into their Pods, and then some. */
const patient = { timeout: 280_000, interval: 1_000 };
const three = { multinic0: 'Configured', multinic1: 'Configured', multinic2: 'Configured' };

function isReady({ type }: { readonly type: string }): boolean {
  return type === 'Ready';
}

/** The new disk is empty, and systemd has created a new machine id. */
const rebuild = `
rm -rf /etc/netplan/9?-multinic[0-8]* /var/lib/multinic
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id`;

async function jobsMade(): Promise<number> {
  const requests = await requestsOf(world);
  return requests.filter(({ resource, status }) => resource === 'jobs' && status === 201).length;
}

/** Status of the Node condition Ready. */
async function nodeIsReady(): Promise<string> {
  const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}';
  return world.business.kubectl(['get', 'node', world.node.name, path]);
}
