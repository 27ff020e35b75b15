import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Attachment } from '../../../rig/openstack/tenant.ts';
import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import { difference, type NicsState, type Shown, stateOf } from '../distros/nic-state.ts';
import {
  acquaint,
  addressOf,
  applyConfig,
  attach,
  expectGone,
  expectReach,
  generous,
  giveGateway6,
  untilConfigured,
  untilJudgedSinceBoot,
} from './acts.ts';
import { namespace, subnet6 } from './ground.ts';
import { foreignState, ourState } from './kernel-state.ts';
import { plantForeignState } from './planted.ts';
import { PrimaryMonitor, primaryIsSettled } from './primary-monitor.ts';
import { agentPods, nodeConfigOf } from './seen.ts';
import { openWorld, type World } from './world.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const profile = '/etc/NetworkManager/system-connections/90-multinic0.nmconnection';
const settings: OpenstackConfigSpec['settings'] = { addressFamilies: ['IPv4', 'IPv6'] };

let world: World;
let monitor: PrimaryMonitor;
let foreign: Awaited<ReturnType<typeof foreignState>>;
let first: Attachment;
let ip6 = '';
let settled: NicsState;

beforeAll(async () => {
  world = await openWorld(say, { type: 'dev', profile: 'keyfile' });
  await plantForeignState(world.node);
  await watchPrimary();
  foreign = await foreignState(world.node);
});

afterAll(async () => {
  await monitor?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** Watches the node's own NIC from now on, when NetworkManager is done with it, too. */
async function watchPrimary(): Promise<void> {
  await monitor?.[Symbol.asyncDispose]();
  await primaryIsSettled(world.node);
  const device = ['nmcli', '-g', 'GENERAL.STATE', 'device', 'show', 'eth0'];
  await vi.waitFor(
    async () => expect(await world.node.sh(device)).toContain('100 (connected)'),
    generous,
  );
  monitor = new PrimaryMonitor(world.node);
  await monitor.started;
}

/** What NICs have, in the form in which the agent's work and NetworkManager's are the same. */
function nicsOf({ node }: World): Promise<NicsState> {
  return stateOf({
    sh: (...command) => node.sh(command),
    json: async (...args) => JSON.parse(await node.sh(['ip', '-j', ...args])) as Shown[],
  });
}

async function expectSettled(): Promise<void> {
  expect(difference(await nicsOf(world), settled)).toEqual([]);
}

async function untilSettled(): Promise<void> {
  await vi.waitFor(expectSettled, generous);
}

it('makes a port of both families a NIC of a node that NetworkManager manages', async () => {
  const { tenant, server, data, node } = world;
  const { networkId, subnetId } = data;
  const six = await tenant.createSubnet({
    networkId,
    cidr: subnet6.cidr,
    gatewayIp: subnet6.gateway,
  });
  await giveGateway6(world);
  await applyConfig(world, [server.id], { settings });
  const fixedIps = [subnetId, six.id].map((id) => ({ subnetId: id }));
  const port = await tenant.createPort({ networkId, fixedIps });
  ip6 = port.fixed_ips.find(({ subnet_id }) => subnet_id === six.id)?.ip_address ?? '';
  first = await tenant.attach(server.id, { portId: port.id });
  await untilConfigured(world, 'multinic0');
  await acquaint(world, first);
  const shown = await node.sh(['ip', '-6', '-o', 'addr', 'show', 'dev', 'multinic0']);
  expect(shown).toContain(`inet6 ${ip6}/64 scope global`);
  expect(shown).not.toMatch(/tentative|dadfailed/);
  await expectReach(world, addressOf(first));
  expect(await node.sh(['ping', '-c1', '-W5', '-I', ip6, subnet6.gateway])).toContain('1 received');
  settled = await nicsOf(world);
  expect(settled.rules).toHaveLength(2);
});

it('wrote a profile that NetworkManager reads, and sent an agent that sees no other folders', async () => {
  const { node } = world;
  expect(await node.sh(['stat', '-c', '%a %U', profile])).toBe('600 root\n');
  const [pod] = (await agentPods(world)).filter(({ log }) => log.includes('"outcome":"ok"'));
  const folders = pod?.volumes.flatMap(
    ({ hostPath }) => (hostPath as { path?: string })?.path ?? [],
  );
  expect(folders).toContain('/etc/NetworkManager/system-connections');
  expect(folders).not.toContain('/etc/netplan');
});

it('left everything that is not ours as it was, and the primary NIC without an event', async () => {
  expect(await foreignState(world.node)).toEqual(foreign);
  expect(monitor.events).toEqual([]);
});

it('has the same state after a reboot, from the profile, and the object still tells the truth', async () => {
  const { node } = world;
  await node.reboot();
  await watchPrimary();
  await plantForeignState(node);
  await untilSettled();
  const active = ['nmcli', '-g', 'GENERAL.CONNECTION', 'device', 'show', 'multinic0'];
  expect(await node.sh(active)).toBe('multinic0\n');
  await untilJudgedSinceBoot(world);
  await untilConfigured(world, 'multinic0');
  expect(await foreignState(node)).toEqual(foreign);
});

it('has the same state after a restart of NetworkManager', async () => {
  const { node } = world;
  await node.sh(['systemctl', 'restart', 'NetworkManager']);
  await watchPrimary();
  await untilSettled();
});

it('configures a NIC beside one that NetworkManager has activated, and changes the routing of both', async () => {
  const { node, server, tenant } = world;
  const second = await attach(world);
  await untilConfigured(world, 'multinic0', 'multinic1');
  await applyConfig(world, [server.id], { settings: { ...settings, routing: 'isolated' } });
  await vi.waitFor(async () => expect((await ourState(node)).rules).toEqual([]), generous);
  await untilConfigured(world, 'multinic0', 'multinic1');
  expect(await foreignState(node)).toEqual(foreign);
  await tenant.detach(server.id, second.port_id);
  await untilConfigured(world, 'multinic0');
  await expectGone(world, 'multinic1');
});

it('removes everything when the OpenstackConfig is deleted', async () => {
  const { node, management } = world;
  await management.kubectl(['delete', 'osc', 'e2e', '-n', namespace, '--timeout=120s']);
  expect(await nodeConfigOf(world)).toBeUndefined();
  await expectGone(world, 'multinic0');
  expect(await ourState(node)).toEqual({ links: [], addresses: [], routes: [], rules: [] });
  expect(await foreignState(node)).toEqual(foreign);
  expect(monitor.events).toEqual([]);
});
