import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Attachment } from '../../rig/openstack/tenant.ts';
import { readVersions } from '../../rig/openstack/versions.ts';
import { foreignState, type KernelState, ourState } from './kernel-state.ts';
import { plantedHost, plantForeignState } from './planted.ts';
import { PrimaryMonitor } from './primary-monitor.ts';
import {
  agentPods,
  configCondition,
  created,
  inventoryOf,
  nicReasons,
  nicStates,
  nodeConfigOf,
} from './seen.ts';
import { encryptKey, namespace, openWorld, provider, subnet, type World } from './world.ts';

const generous = { timeout: 120_000, interval: 300 };
const say = (line: string): void => void process.stdout.write(`${line}\n`);

let world: World;
let monitor: PrimaryMonitor;
let foreign: Awaited<ReturnType<typeof foreignState>>;
let first: Attachment;
let second: Attachment;
let settled: KernelState;

beforeAll(async () => {
  world = await openWorld(say);
  await plantForeignState(world.node);
  foreign = await foreignState(world.node);
  monitor = new PrimaryMonitor(world.node);
  await monitor.started;
});

afterAll(async () => {
  await monitor?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

function openstackConfig(vmNames: readonly string[]): object {
  const { contrabass, data, tenant } = world;
  return {
    apiVersion: 'multinic.example.com/v1alpha1',
    kind: 'OpenstackConfig',
    metadata: { name: 'e2e', namespace },
    spec: {
      subnetIDs: [data.subnetId],
      vmNames,
      credentials: {
        openstackProviderID: contrabass.providerId,
        k8sProviderID: provider,
        projectID: tenant.projectId,
      },
    },
  };
}

async function applyConfig(vmNames: readonly string[]): Promise<void> {
  const object = JSON.stringify(openstackConfig(vmNames));
  await world.management.kubectl(['apply', '--server-side', '-f', '-'], object);
}

const attach = () => world.tenant.attach(world.server.id, { networkId: world.data.networkId });

/** Address of an attachment in the data subnet. */
function addressOf({ fixed_ips }: Attachment): string {
  return fixed_ips[0]?.ip_address ?? '';
}

async function untilConfigured(...names: readonly string[]): Promise<void> {
  const wanted = Object.fromEntries(names.map((name) => [name, 'Configured']));
  await vi.waitFor(async () => expect(await nicStates(world)).toEqual(wanted), generous);
}

/**
 * Pings from the address of a NIC, so that its own table decides the way. The gateway may hold the MAC of the NIC that was
 * just unplugged: Linux answers ARP on every NIC of a subnet (arp_ignore 0), and asks anew after some seconds.
 */
async function expectReach(from: string): Promise<void> {
  const ping = ['ping', '-c1', '-W1', '-I', from, subnet.gateway];
  await vi.waitFor(async () => expect(await world.node.sh(ping)).toContain('1 received'), generous);
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
    await applyConfig([world.server.id]);
    await vi.waitFor(
      async () => expect(await configCondition(world, 'Ready')).toMatchObject({ status: 'True' }),
      generous,
    );
  });

  it('makes an attached port a named, addressed, routed and persistent NIC', async () => {
    first = await attach();
    await untilConfigured('multinic0');
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
    await expectReach(addressOf(first));
  });

  it('writes a file that netplan accepts, readable by root alone', async () => {
    const { node } = world;
    const generate =
      'rm -rf /tmp/np && mkdir -p /tmp/np/etc && cp -r /etc/netplan /tmp/np/etc/ && netplan generate --root-dir /tmp/np';
    await node.sh(['sh', '-ec', generate]);
    expect(
      await node.sh(['cat', '/tmp/np/run/systemd/network/10-netplan-multinic0.network']),
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

  it('rolls back exactly while files cannot be written, and goes on without a restart', async () => {
    const before = await ourState(world.node);
    await world.node.sh(['mount', '--bind', '/etc/netplan', '/etc/netplan']);
    await world.node.sh(['mount', '-o', 'remount,bind,ro', '/etc/netplan']);
    const attachment = await attach();
    await vi.waitFor(
      async () => expect(await nicReasons(world)).toContain('PersistFailed'),
      generous,
    );
    expect(await ourState(world.node)).toEqual(before);
    expect(await nicStates(world)).toMatchObject({ multinic0: 'Configured' });
    expect(await foreignState(world.node)).toEqual(foreign);
    await world.node.sh(['umount', '/etc/netplan']);
    await untilConfigured('multinic0', 'multinic1');
    await world.tenant.detach(world.server.id, attachment.port_id);
    await untilConfigured('multinic0');
    await expectGone('multinic1');
  });

  it('configures a second NIC in the same subnet beside the first', async () => {
    second = await attach();
    await untilConfigured('multinic0', 'multinic1');
    await expectReach(addressOf(first));
    await expectReach(addressOf(second));
    settled = await ourState(world.node);
    expect(settled.rules).toHaveLength(2);
  });

  it('left everything that is not ours as it was, and the primary NIC without an event', async () => {
    expect(await foreignState(world.node)).toEqual(foreign);
    expect(monitor.events).toEqual([]);
    await world.node.sh(['ip', 'link', 'set', 'eth0', 'alias', 'control']);
    await vi.waitFor(() => expect(monitor.events.length).toBeGreaterThan(0), generous);
    await world.node.sh(['ip', 'link', 'set', 'eth0', 'alias', '']);
    await monitor[Symbol.asyncDispose]();
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
      await vi.waitFor(async () => expect(await ourState(world.node)).toEqual(settled), generous);
      expect(await nicStates(world)).toEqual({ multinic0: 'Configured', multinic1: 'Configured' });
      await expectReach(addressOf(second));
      await plantForeignState(world.node);
      foreign = await foreignState(world.node);
    },
  );

  it('removes a detached NIC that is gone already; the other keeps name and traffic', async () => {
    await world.tenant.detach(world.server.id, first.port_id);
    await untilConfigured('multinic1');
    await expectGone('multinic0');
    await expectReach(addressOf(second));
    expect(await foreignState(world.node)).toEqual(foreign);
  });

  it('removes a detached NIC that is still plugged, and gives the link its name back', async () => {
    const third = await attach();
    await untilConfigured('multinic0', 'multinic1');
    world.hypervisor.hold('unplug');
    await world.tenant.detach(world.server.id, third.port_id);
    await untilConfigured('multinic1');
    await expectGone('multinic0');
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

  it('removes every NIC of a server that leaves vmNames, also the last one', async () => {
    await applyConfig(['00000000-0000-4000-8000-000000000000']);
    await vi.waitFor(async () => expect(await nodeConfigOf(world)).toBeUndefined(), generous);
    await expectGone('multinic1');
    await applyConfig([world.server.id]);
    await vi.waitFor(
      async () => expect(await nicStates(world)).toEqual({ multinic0: 'Configured' }),
      generous,
    );
  });

  it('removes everything when the OpenstackConfig is deleted', async () => {
    await world.management.kubectl(['delete', 'osc', 'e2e', '-n', namespace, '--timeout=120s']);
    expect(await nodeConfigOf(world)).toBeUndefined();
    await expectGone('multinic0');
    expect(await ourState(world.node)).toEqual({ links: [], addresses: [], routes: [], rules: [] });
    expect(await foreignState(world.node)).toEqual(foreign);
    expect(await plantedHost(world.node)).toBe(true);
    expect(await inventoryOf(world)).toEqual([]);
  });
});

describe('a part that is killed in mid-change', () => {
  let clean: number;

  it('has a clean run to be compared with', async () => {
    await applyConfig([world.server.id]);
    await attach();
    await untilConfigured('multinic0');
    clean = await cycle(async () => undefined);
    expect(clean).toBeGreaterThan(0);
  });

  it.each([
    ['operator', 'operator.node-config.post'],
    ['viola', 'viola.node-config.apply'],
    ['controller', 'controller.job.create'],
    ['controller', 'controller.status.write'],
  ])('%s at %s: same end, same number of objects', async (part, effect) => {
    const objects = await cycle(async () => {
      await world.parts.logged(part, `"effect":"${effect}"`);
      await world.parts.kill(part);
      await world.parts.restart(part);
    });
    expect(objects).toBe(clean);
    expect(await foreignState(world.node)).toEqual(foreign);
  });
});

describe('an agent that is killed in mid-change', () => {
  it('leaves a journal, from which one more attempt comes to the same end', async () => {
    const before = await ourState(world.node);
    const clean = await cycle(async () => undefined);
    const objects = await cycle(async () => {
      await world.node.sh(['timeout', '120', 'sh', '-ec', killInMidChange]);
    });
    expect(objects - clean).toBe(oneAttempt);
    expect(await ourState(world.node)).toEqual(before);
    expect(await foreignState(world.node)).toEqual(foreign);
  });
});

/** A Job and its ConfigMap. */
const oneAttempt = 2;

/**
 * Lets each agent go on in very small steps, so that none gets through unseen on a busy machine, and kills the one that
 * has written the journal of the second NIC.
 */
const killInMidChange = `
  while :; do
    until pid=$(pgrep -o -f 'app/[m]ain.mjs agent'); do :; done
    while kill -STOP $pid 2>/dev/null; do
      if [ -e /var/lib/multinic/journal/1.json ]; then kill -KILL $pid; exit; fi
      kill -CONT $pid 2>/dev/null || break
    done
  done`;

describe('Viola', () => {
  it.each([
    ['without a token', undefined, 401],
    ['with a token of another cluster', 'foreign', 403],
    ['with a read-only token', 'readOnly', 403],
  ] as const)('refuses a POST %s', async (_what, token, status) => {
    const answer = await fetch(`${world.violaUrl}/v1/k8s/multinic/node-configs`, {
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

/** Attaches a port, waits until it is configured, detaches it; answers how many objects that created. */
async function cycle(meanwhile: () => Promise<void>): Promise<number> {
  const before = (await created(world)).length;
  const [attachment] = await Promise.all([attach(), meanwhile()]);
  await untilConfigured('multinic0', 'multinic1');
  await expectReach(addressOf(attachment));
  await world.tenant.detach(world.server.id, attachment.port_id);
  await untilConfigured('multinic0');
  await expectGone('multinic1');
  return (await created(world)).length - before;
}

/** No link, rule, route or file of a NIC is left on the node. */
async function expectGone(name: string): Promise<void> {
  const index = Number(name.at(-1));
  const { node } = world;
  await vi.waitFor(async () => {
    expect(await node.sh(['ip', '-o', 'link'])).not.toContain(` ${name}:`);
    expect(await node.sh(['ip', 'rule', 'show', 'priority', String(10_100 + index)])).toBe('');
    expect(await node.sh(['ls', '/etc/netplan'])).not.toContain(name);
  }, generous);
}
