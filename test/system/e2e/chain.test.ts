import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Attachment } from '../../../rig/openstack/tenant.ts';
import { readVersions } from '../../../rig/openstack/versions.ts';
import { parts } from '../../rbac/claims.ts';
import {
  acquaint,
  addressOf,
  annotate,
  applyConfig,
  attach,
  expectGone,
  expectReach,
  generous,
  giveGateway6,
  trafficDuring,
  untilConfigured,
  untilJudgedSinceBoot,
  untilUnplugged,
} from './acts.ts';
import { encryptKey, namespace, provider, subnet, subnet6 } from './ground.ts';
import { foreignState, type KernelState, ourState } from './kernel-state.ts';
import { plantForeignState } from './planted.ts';
import { PrimaryMonitor, primaryIsSettled } from './primary-monitor.ts';
import { usedRights } from './rights.ts';
import {
  agentPods,
  configCondition,
  inventoryOf,
  nicReasons,
  nicStates,
  nodeConfigOf,
} from './seen.ts';
import { openWorld, type World } from './world.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

let world: World;
let monitor: PrimaryMonitor;
let foreign: Awaited<ReturnType<typeof foreignState>>;
let first: Attachment;
let second: Attachment;
let settled: KernelState;

beforeAll(async () => {
  world = await openWorld(say, { type: 'dev' });
  await plantForeignState(world.node);
  foreign = await foreignState(world.node);
  await watchPrimary();
});

afterAll(async () => {
  await monitor?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** Watches the node's own NIC from now on. */
async function watchPrimary(): Promise<void> {
  await monitor?.[Symbol.asyncDispose]();
  await primaryIsSettled(world.node);
  monitor = new PrimaryMonitor(world.node);
  await monitor.started;
}

describe('the chain on real parts', () => {
  it('is made of live servers, whose versions are', async () => {
    const { cloud, tenant, business, imageId } = world;
    const versions = await readVersions(cloud.keystoneUrl, tenant.user);
    const kubernetes = JSON.parse(await business.kubectl(['get', '--raw', '/version'])) as {
      gitVersion: string;
    };
    say(`versions: ${JSON.stringify({ ...versions, kubernetes: kubernetes.gitVersion })}`);
    say(`agent image: ${imageId}`);
    expect(kubernetes.gitVersion).toMatch(/^v1\.\d+\.\d+/);
    expect(versions.nova).toMatch(/^2\.\d+$/);
  });

  it('accepts an OpenstackConfig with nothing to deliver yet', async () => {
    await applyConfig(world, [world.server.id]);
    await vi.waitFor(
      async () => expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'True' }),
      generous,
    );
  });

  it('[RW-28] makes an attached port a named, addressed, routed and persistent NIC', async () => {
    first = await attach(world);
    await untilConfigured(world, 'multinic0');
    const [links, rules, routes] = await Promise.all([
      world.node.sh(['ip', '-j', 'addr', 'show', 'dev', 'multinic0']),
      world.node.sh(['ip', 'rule', 'show', 'priority', '10100']),
      world.node.sh(['ip', 'route', 'show', 'table', '100']),
    ]);
    expect(JSON.parse(links)).toMatchObject([
      {
        address: first.mac_addr,
        mtu: subnet.mtu,
        addr_info: [{ local: addressOf(first), prefixlen: 24 }],
      },
    ]);
    expect(rules).toContain(`from ${addressOf(first)} lookup 100`);
    expect(routes).toContain(`default via ${subnet.gateway} dev multinic0`);
    expect(routes).toContain(`${subnet.cidr} dev multinic0`);
    await acquaint(world, first);
    await expectReach(world, addressOf(first));
  });

  it('[RW-31] writes a file that netplan accepts, readable by root alone', async () => {
    const { node } = world;
    const generate =
      'rm -rf /tmp/np && mkdir -p /tmp/np/etc && cp -r /etc/netplan /tmp/np/etc/ && netplan generate --root-dir /tmp/np';
    await node.sh(['sh', '-ec', generate]);
    expect(
      await node.sh(['cat', '/tmp/np/run/systemd/network/10-netplan-00-multinic0.network']),
    ).toContain(`Address=${addressOf(first)}/24`);
    expect(await node.sh(['stat', '-c', '%a %U', '/etc/netplan/90-multinic0.yaml'])).toBe(
      '600 root\n',
    );
  });

  it('ran the packed image with NET_ADMIN alone, without a token', async () => {
    const ran = await agentPods(world);
    expect(ran.length).toBeGreaterThan(0);
    for (const pod of ran) {
      expect(pod.imageId).toContain(world.imageId);
      expect(pod.capabilities).toEqual({ drop: ['ALL'], add: ['NET_ADMIN'] });
      expect(pod.volumes.filter((volume) => 'projected' in volume)).toEqual([]);
      expect(pod.log).toContain('"capabilities":"0000000000001000"');
    }
  });

  it('shows the node in the inventory', async () => {
    const [record] = await inventoryOf(world);
    expect(record).toMatchObject({ providerId: provider, instanceId: world.server.id });
    expect(record?.config.interfaces).toMatchObject([{ name: 'multinic0', portId: first.port_id }]);
  });

  it('touches nothing while files cannot be written, and goes on without a restart', async () => {
    const before = await ourState(world.node);
    await world.node.sh(['mount', '--bind', '/etc/netplan', '/etc/netplan']);
    await world.node.sh(['mount', '-o', 'remount,bind,ro', '/etc/netplan']);
    const attachment = await attach(world);
    await vi.waitFor(
      async () => expect(await nicReasons(world)).toContain('RightMissing'),
      generous,
    );
    expect(await ourState(world.node)).toEqual(before);
    expect(await nicStates(world)).toMatchObject({ multinic0: 'Configured' });
    expect(await foreignState(world.node)).toEqual(foreign);
    await world.node.sh(['umount', '/etc/netplan']);
    await untilConfigured(world, 'multinic0', 'multinic1');
    await world.tenant.detach(world.server.id, attachment.port_id);
    await untilConfigured(world, 'multinic0');
    await expectGone(world, 'multinic1');
  });

  it('configures a second NIC in the same subnet beside the first, as soon as somebody asks', async () => {
    await annotate(world, 'multinic.io/paused=true');
    await vi.waitFor(
      async () => expect(await configCondition(world, 'Paused')).toMatchObject({ status: 'True' }),
      generous,
    );
    second = await attach(world);
    expect(await nicStates(world)).toEqual({ multinic0: 'Configured' });
    const asked = Date.now();
    await annotate(world, `multinic.io/reconcile-at=${asked}`, 'multinic.io/paused-');
    await untilConfigured(world, 'multinic0', 'multinic1');
    say(`forced to Configured: ${Date.now() - asked} ms`);
    await acquaint(world, second);
    settled = await ourState(world.node);
    expect(settled.rules).toHaveLength(2);
  });

  it('left everything that is not ours as it was, and the primary NIC without an event', async () => {
    expect(await foreignState(world.node)).toEqual(foreign);
    expect(monitor.events).toEqual([]);
    await world.node.sh(['ip', 'link', 'set', 'eth0', 'alias', 'control']);
    await vi.waitFor(() => expect(monitor.events.length).toBeGreaterThan(0), generous);
    await world.node.sh(['ip', 'link', 'set', 'eth0', 'alias', '']);
  });

  it.each([
    ['a reboot', () => world.node.reboot()],
    [
      'a power cut',
      async () => {
        await world.node.cut();
        await world.node.start();
      },
    ],
  ])(
    'has the same state after %s, and the object still tells the truth',
    async (_what, restart) => {
      await restart();
      await watchPrimary();
      await vi.waitFor(async () => expect(await ourState(world.node)).toEqual(settled), generous);
      await untilJudgedSinceBoot(world);
      expect(await nicStates(world)).toEqual({ multinic0: 'Configured', multinic1: 'Configured' });
      expect(await ourState(world.node)).toEqual(settled);
      expect(monitor.events).toEqual([]);
      await plantForeignState(world.node);
      expect(await foreignState(world.node)).toEqual(foreign);
      await watchPrimary();
    },
  );

  it('removes a detached NIC that is gone already; the other keeps name and traffic', async () => {
    const traffic = await trafficDuring(world, addressOf(second), async () => {
      await world.parts.kill('operator');
      await world.tenant.detach(world.server.id, first.port_id);
      await untilUnplugged(world, first);
      await world.parts.restart('operator');
      await untilConfigured(world, 'multinic1');
      await expectGone(world, 'multinic0');
    });
    expect(traffic).toContain(' 0% packet loss');
    expect(await foreignState(world.node)).toEqual(foreign);
  });

  it('removes a detached NIC that is still plugged, and gives the link its name back', async () => {
    const third = await attach(world);
    await untilConfigured(world, 'multinic0', 'multinic1');
    world.hypervisor.hold('unplug');
    await world.tenant.detach(world.server.id, third.port_id);
    await untilConfigured(world, 'multinic1');
    await expectGone(world, 'multinic0');
    const links = JSON.parse(await world.node.sh(['ip', '-j', 'link'])) as {
      ifname: string;
      address: string;
      operstate: string;
    }[];
    const link = links.find(({ address }) => address === third.mac_addr);
    expect(link?.ifname).toMatch(/^ens\d+$/);
    expect(link?.operstate).toBe('DOWN');
    world.hypervisor.release('unplug');
  });

  it('[RW-85] removes every NIC of a server that leaves vmNames, also the last one; it comes back by its name', async () => {
    await applyConfig(world, ['00000000-0000-4000-8000-000000000000']);
    await vi.waitFor(async () => expect(await nodeConfigOf(world)).toBeUndefined(), generous);
    await expectGone(world, 'multinic1');
    await applyConfig(world, [world.server.id]);
    await untilConfigured(world, 'multinic1');
  });

  it('gives a NIC addresses of both families, over a reboot too, and other routing', async () => {
    const { networkId, subnetId } = world.data;
    const six = await world.tenant.createSubnet({
      networkId,
      cidr: subnet6.cidr,
      gatewayIp: subnet6.gateway,
    });
    await giveGateway6(world);
    const fixedIps = [subnetId, six.id].map((id) => ({ subnetId: id }));
    const port = await world.tenant.createPort({ networkId, fixedIps });
    const ip = port.fixed_ips.find(({ subnet_id }) => subnet_id === six.id)?.ip_address ?? '';
    const settings = { addressFamilies: ['IPv4' as const, 'IPv6' as const] };
    await applyConfig(world, [world.server.id], { settings });
    const dual = await world.tenant.attach(world.server.id, { portId: port.id });
    await untilConfigured(world, 'multinic0', 'multinic1');
    const { node } = world;
    const shown = await node.sh(['ip', '-6', '-o', 'addr', 'show', 'dev', 'multinic0']);
    expect(shown).toContain(`inet6 ${ip}/64 scope global`);
    expect(shown).not.toMatch(/tentative|dadfailed/);
    const table = async () => node.sh(['ip', '-6', 'route', 'show', 'table', '100']);
    expect(await table()).toContain(`default via ${subnet6.gateway} dev multinic0`);
    expect(await node.sh(['ip', '-6', 'rule'])).toContain(`10100:\tfrom ${ip} lookup 100`);
    expect(await node.sh(['ping', '-c1', '-W5', '-I', ip, subnet6.gateway])).toContain(
      '1 received',
    );
    const before = await ourState(node);
    await node.reboot();
    await watchPrimary();
    await vi.waitFor(async () => expect(await ourState(node)).toEqual(before), generous);
    await untilJudgedSinceBoot(world);
    await plantForeignState(node);
    await watchPrimary();
    await applyConfig(world, [world.server.id], { settings: { ...settings, routing: 'isolated' } });
    await vi.waitFor(async () => expect((await ourState(node)).rules).toEqual([]), generous);
    await untilConfigured(world, 'multinic0', 'multinic1');
    expect(await table()).toBe('');
    expect(await foreignState(node)).toEqual(foreign);
    await world.tenant.detach(world.server.id, dual.port_id);
    await untilConfigured(world, 'multinic1');
    await expectGone(world, 'multinic0');
  });

  it('removes everything when the OpenstackConfig is deleted', async () => {
    await world.management.kubectl(['delete', 'osc', 'e2e', '-n', namespace, '--timeout=120s']);
    expect(await nodeConfigOf(world)).toBeUndefined();
    await expectGone(world, 'multinic1');
    expect(await ourState(world.node)).toEqual({ links: [], addresses: [], routes: [], rules: [] });
    expect(await foreignState(world.node)).toEqual(foreign);
    expect(monitor.events).toEqual([]);
    expect(await inventoryOf(world)).toEqual([]);
  });
});

describe('rights', () => {
  // A watch is in the audit log when it has ended.
  beforeAll(async () => {
    for (const part of ['operator', 'viola', 'controller'] as const) {
      await world.parts.deletePods(part);
      await world.parts.ready(part);
    }
  });

  it.each(parts)('of the %s are used, and there is nothing else that it asks for', async (part) => {
    const nothing = { unused: [], refused: [], beyond: [] };
    await vi.waitFor(async () => expect(await usedRights(world, part)).toEqual(nothing), generous);
  });
});

describe('Viola', () => {
  it.each([
    ['without a token', undefined, 401],
    ['with a token of another cluster', 'foreign', 403],
    ['with a read-only token', 'readOnly', 403],
  ] as const)('refuses a POST %s', async (_what, token, status) => {
    const answer = await world.viola.fetch('/v1/k8s/multinic/node-configs', {
      method: 'POST',
      body: JSON.stringify([{ nodeName: world.node.name, interfaces: [] }]),
      headers: {
        'content-type': 'application/json',
        'x-provider-id': provider,
        ...(token ? { authorization: `Bearer ${world.tokens[token]}` } : {}),
      },
    });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(await answer.json())).not.toContain(encryptKey);
  });
});
