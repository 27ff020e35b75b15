import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readVersions } from '../../../rig/openstack/versions.ts';
import type { OpenstackConfigSpec } from '../../../src/api/openstackconfig.ts';
import {
  acquaint,
  address6Of,
  addressOf,
  annotate,
  applyConfig,
  attach,
  expectGone,
  expectReach,
  generous,
  makeSubnet6,
  trafficDuring,
  untilConfigured,
  untilJudgedSinceBoot,
  untilUnplugged,
} from '../../fixtures/e2e/acts.ts';
import { encryptKey, namespace, provider, subnet, subnet6 } from '../../fixtures/e2e/ground.ts';
import { ourState } from '../../fixtures/e2e/kernel-state.ts';
import { managers } from '../../fixtures/e2e/managers.ts';
import {
  agentJobs,
  agentPods,
  configCondition,
  inventoryOf,
  nicReasons,
  nicStates,
  nodeConfigOf,
} from '../../fixtures/e2e/observed.ts';
import { usedRights } from '../../fixtures/e2e/rights.ts';
import { WatchedWorker } from '../../fixtures/e2e/scene.ts';
import { type DeployedChain, openWorld } from '../../fixtures/e2e/world.ts';
import { chainParts } from '../../rbac/claims.ts';
import { cliTests } from './cli-tests.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const families: OpenstackConfigSpec['settings'] = { addressFamilies: ['IPv4', 'IPv6'] };

let world: DeployedChain;
let subnet6Id: string | undefined;

beforeAll(async () => {
  world = await openWorld(say, { type: 'dev', profiles: managers.map(({ profile }) => profile) });
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

it('the versions of live OpenStack and Kubernetes servers are readable', async () => {
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

/**
 * Waits until exactly these NICs are listed and at most one is Configured, the rest as bypassed. With two address families each family may
 * leave by a different NIC.
 */
async function untilAtMostOneCarries(on: DeployedChain, names: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    expect(Object.keys(await nicStates(on))).toEqual(names);
    const reasons = await nicReasons(on);
    const carrying = reasons.filter((reason) => reason !== 'PathBypassed');
    expect([[], ['Configured']]).toContainEqual(carrying);
  }, generous);
}

describe.each(managers)('the chain on a node with $name', (manager) => {
  let scene: WatchedWorker;
  let on: DeployedChain;

  beforeAll(async () => {
    scene = await WatchedWorker.open(world, manager);
    on = scene.world;
  });

  afterAll(() => scene?.[Symbol.asyncDispose]());

  it('the operator accepts an OpenstackConfig without ports', async () => {
    await applyConfig(on, [on.server.id]);
    await vi.waitFor(
      async () => expect(await configCondition(on, 'Ready')).toMatchObject({ status: 'True' }),
      generous,
    );
  });

  it('[RW-28] an attached port becomes a named, addressed, routed and persistent NIC', async () => {
    const first = await attach(on);
    scene.ports.set('first', first);
    await untilConfigured(on, 'multinic0');
    const [links, rules, routes] = await Promise.all([
      on.node.sh(['ip', '-j', 'addr', 'show', 'dev', 'multinic0']),
      on.node.sh(['ip', 'rule', 'show', 'priority', '10100']),
      on.node.sh(['ip', 'route', 'show', 'table', '100']),
    ]);
    const [link] = JSON.parse(links) as { addr_info: { family: string }[] }[];
    expect(link).toMatchObject({ address: first.mac_addr, mtu: subnet.mtu });
    expect(link?.addr_info.filter(({ family }) => family === 'inet')).toMatchObject([
      { local: addressOf(first), prefixlen: 24 },
    ]);
    expect(rules).toContain(`from ${addressOf(first)} lookup 100`);
    expect(routes).toContain(`default via ${subnet.gateway} dev multinic0`);
    expect(routes).toContain(`${subnet.cidr} dev multinic0`);
    await acquaint(on, first);
    await expectReach(on, addressOf(first));
  });

  it('the agent writes a file readable only by root', async () => {
    expect(await on.node.sh(['stat', '-c', '%a %U', manager.file])).toBe('600 root\n');
  });

  it('the packed image runs with only NET_ADMIN, without a token, and without folders of a foreign network manager', async () => {
    const others = managers.filter((other) => other !== manager);
    const ran = await agentPods(on);
    expect(ran.length).toBeGreaterThan(0);
    for (const pod of ran) {
      expect(pod.imageId).toContain(on.imageId);
      expect(pod.capabilities).toEqual({ drop: ['ALL'], add: ['NET_ADMIN'] });
      expect(pod.volumes.filter((volume) => 'projected' in volume)).toEqual([]);
      expect(pod.log).toContain('"capabilities":"0000000000001000"');
    }
    const [done] = ran.filter(({ log }) => log.includes('"outcome":"ok"'));
    const folders = done?.volumes.flatMap(
      ({ hostPath }) => (hostPath as { path?: string })?.path ?? [],
    );
    expect(folders).toContain(manager.folder);
    for (const { folder } of others) expect(folders).not.toContain(folder);
  });

  if (manager.name === 'netplan') {
    it('[RW-31] the agent writes a file that netplan accepts', async () => {
      const { node } = on;
      const generate =
        'rm -rf /tmp/np && mkdir -p /tmp/np/etc && cp -r /etc/netplan /tmp/np/etc/ && netplan generate --root-dir /tmp/np';
      await node.sh(['sh', '-ec', generate]);
      const made = '/tmp/np/run/systemd/network/10-netplan-00-multinic0.network';
      const address = `Address=${addressOf(scene.port('first'))}/24`;
      expect(await node.sh(['cat', made])).toContain(address);
    });

    it('the inventory shows the node', async () => {
      const portId = scene.port('first').port_id;
      const [record] = await inventoryOf(on);
      expect(record).toMatchObject({ providerId: provider, instanceId: on.server.id });
      expect(record?.config.interfaces).toMatchObject([{ name: 'multinic0', portId }]);
    });

    cliTests(() => on);

    it('the agent changes nothing while files cannot be written, and continues without a restart', async () => {
      const before = await ourState(on.node);
      await on.node.sh(['mount', '--bind', manager.folder, manager.folder]);
      await on.node.sh(['mount', '-o', 'remount,bind,ro', manager.folder]);
      const attachment = await attach(on);
      await vi.waitFor(
        async () => expect(await nicReasons(on)).toContain('RightMissing'),
        generous,
      );
      expect(await ourState(on.node)).toEqual(before);
      expect(await nicStates(on)).toMatchObject({ multinic0: 'Configured' });
      await scene.expectForeignState();
      await on.node.sh(['umount', manager.folder]);
      await untilConfigured(on, 'multinic0', 'multinic1');
      await on.tenant.detach(on.server.id, attachment.port_id);
      await untilConfigured(on, 'multinic0');
      await expectGone(on, 'multinic1');
    });

    it('a second NIC in the same subnet is configured beside the first as soon as reconcile-at is set', async () => {
      await annotate(on, 'multinic.io/paused=true');
      await vi.waitFor(
        async () => expect(await configCondition(on, 'Paused')).toMatchObject({ status: 'True' }),
        generous,
      );
      const second = await attach(on);
      scene.ports.set('second', second);
      expect(await nicStates(on)).toEqual({ multinic0: 'Configured' });
      const asked = Date.now();
      await annotate(on, `multinic.io/reconcile-at=${asked}`, 'multinic.io/paused-');
      await untilConfigured(on, 'multinic0', 'multinic1');
      say(`forced to Configured: ${Date.now() - asked} ms`);
      await acquaint(on, second);
      expect((await ourState(on.node)).rules).toHaveLength(2);
    });
  }

  if (manager.name === 'netplan') {
    it('renaming an OpenstackConfig in git changes nothing on the node, whether create or prune comes first', async () => {
      const { management, server } = on;
      const [config, jobs] = [await nodeConfigOf(on), await agentJobs(on)];
      const prune = async (name: string) => {
        await management.kubectl(['delete', 'osc', name, '-n', namespace, '--wait=false']);
      };
      const untilRenamed = async (from: string, to: string) => {
        const gone = ['wait', '--for=delete', `osc/${from}`, '-n', namespace, '--timeout=120s'];
        await management.kubectl(gone);
        const source = (await nodeConfigOf(on))?.metadata.annotations?.['multinic.io/source'];
        expect(JSON.parse(source ?? '{}')).toMatchObject({ name: to });
      };
      await scene.watchPrimary();
      const traffic = await trafficDuring(on, addressOf(scene.port('second')), async () => {
        await applyConfig(on, [server.id], { name: 'renamed' });
        await prune('e2e');
        await untilRenamed('e2e', 'renamed');
        await prune('renamed');
        await applyConfig(on, [server.id]);
        await untilRenamed('renamed', 'e2e');
      });
      expect(traffic).toContain(' 0% packet loss');
      expect(scene.nicEvents()).toEqual([]);
      const { uid, generation } = (await nodeConfigOf(on))?.metadata ?? {};
      expect({ uid, generation }).toEqual({
        uid: config?.metadata.uid,
        generation: config?.metadata.generation,
      });
      expect(await agentJobs(on)).toEqual(jobs);
    });
  }

  it('a NIC gets addresses of both families beside NICs with only IPv4', async () => {
    const { node, data, server, tenant } = on;
    subnet6Id ??= await makeSubnet6(world);
    const fixedIps = [data.subnetId, subnet6Id].map((id) => ({ subnetId: id }));
    const port = await tenant.createPort({ networkId: data.networkId, fixedIps });
    await applyConfig(on, [server.id], { settings: families });
    const dual = await tenant.attach(server.id, { portId: port.id });
    const name = `multinic${scene.ports.size}`;
    const table = 100 + scene.ports.size;
    const there = Object.keys(await nicStates(on));
    scene.ports.set('dual', dual);
    await untilConfigured(on, ...new Set([...there, name]));
    await acquaint(on, dual);
    const ip = address6Of(dual);
    const shown = await node.sh(['ip', '-6', '-o', 'addr', 'show', 'dev', name]);
    expect(shown).toContain(`inet6 ${ip}/64 scope global`);
    expect(shown).not.toMatch(/tentative|dadfailed/);
    const routes = await node.sh(['ip', '-6', 'route', 'show', 'table', `${table}`]);
    expect(routes).toContain(`default via ${subnet6.gateway} dev ${name}`);
    expect(await node.sh(['ip', '-6', 'rule'])).toContain(
      `10${table}:\tfrom ${ip} lookup ${table}`,
    );
    await expectReach(on, addressOf(dual));
    const ping = ['ping', '-c1', '-W5', '-I', ip, subnet6.gateway];
    expect(await node.sh(ping)).toContain('1 received');
    const addresses = [...scene.ports.values()].flatMap(({ fixed_ips }) => fixed_ips);
    expect((await scene.nics()).rules).toHaveLength(addresses.length);
  });

  it('foreign state stays unchanged, and the primary NIC has no event', async () => {
    await scene.expectForeignState();
    scene.expectNoEvents();
    await scene.expectMonitorToWork();
  });

  it.each(Object.entries(manager.restarts))(
    'has the same NICs and the same status after %s',
    async (_what, restart) => {
      const [settled, states] = [await scene.nics(), await nicStates(on)];
      await restart(on.node);
      await scene.watchPrimary();
      await scene.untilNics(settled);
      await untilJudgedSinceBoot(on);
      expect(await nicStates(on)).toEqual(states);
      expect(await scene.nics()).toEqual(settled);
      scene.expectNoEvents();
      await scene.plantAgain();
    },
  );

  if (manager.name === 'netplan') {
    it('a NIC missing on the host is removed when detached; remaining NICs keep names and traffic', async () => {
      const first = scene.port('first');
      const traffic = await trafficDuring(on, addressOf(scene.port('second')), async () => {
        await on.parts.kill('operator');
        await on.tenant.detach(on.server.id, first.port_id);
        await untilUnplugged(on, first);
        await on.parts.restart('operator');
        await untilConfigured(on, 'multinic1', 'multinic2');
        await expectGone(on, 'multinic0');
      });
      expect(traffic).toContain(' 0% packet loss');
      await scene.expectForeignState();
    });

    it('a detached NIC that is still plugged is removed, and the link gets the former name', async () => {
      const third = await attach(on);
      await untilConfigured(on, 'multinic0', 'multinic1', 'multinic2');
      on.hypervisor.hold('unplug');
      await on.tenant.detach(on.server.id, third.port_id);
      await untilConfigured(on, 'multinic1', 'multinic2');
      await expectGone(on, 'multinic0');
      const links = JSON.parse(await on.node.sh(['ip', '-j', 'link'])) as {
        ifname: string;
        address: string;
        operstate: string;
      }[];
      const link = links.find(({ address }) => address === third.mac_addr);
      expect(link?.ifname).toMatch(/^ens\d+$/);
      expect(link?.operstate).toBe('DOWN');
      on.hypervisor.release('unplug');
    });

    it('[RW-85] a server that leaves vmNames loses every NIC, also the last, and gets the same names after returning', async () => {
      await applyConfig(on, ['00000000-0000-4000-8000-000000000000'], { settings: families });
      await vi.waitFor(async () => expect(await nodeConfigOf(on)).toBeUndefined(), generous);
      await expectGone(on, 'multinic1');
      await expectGone(on, 'multinic2');
      await applyConfig(on, [on.server.id], { settings: families });
      await untilConfigured(on, 'multinic1', 'multinic2');
    });
  }

  it('a NIC is configured beside NICs that the network manager has activated, and routing changes for all', async () => {
    const { node, server, tenant } = on;
    const before = await nicStates(on);
    const { port_id: portId } = await attach(on);
    await vi.waitFor(async () => {
      const states = Object.values(await nicStates(on));
      expect(states).toEqual([...Object.values(before), 'Configured']);
    }, generous);
    const all = Object.keys(await nicStates(on));
    await applyConfig(on, [server.id], { settings: { ...families, routing: 'isolated' } });
    await vi.waitFor(async () => expect((await ourState(node)).rules).toEqual([]), generous);
    // Without policy rules all packets into the shared subnet leave by the same NIC.
    await untilAtMostOneCarries(on, all);
    expect((await ourState(node)).routes.join('\n')).not.toMatch(/"table":"?10\d"?/);
    await scene.expectForeignState();
    await tenant.detach(server.id, portId);
    await untilAtMostOneCarries(on, Object.keys(before));
    for (const name of all.filter((each) => !(each in before))) await expectGone(on, name);
  });

  it('deleting the OpenstackConfig removes all NICs', async () => {
    const names = Object.keys(await nicStates(on));
    await on.management.kubectl(['delete', 'osc', 'e2e', '-n', namespace, '--timeout=120s']);
    expect(await nodeConfigOf(on)).toBeUndefined();
    for (const name of names) await expectGone(on, name);
    expect(await ourState(on.node)).toEqual({ links: [], addresses: [], routes: [], rules: [] });
    await scene.expectForeignState();
    scene.expectNoEvents();
    expect(await inventoryOf(on)).toEqual([]);
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

  it.each(chainParts)('the %s uses all granted rights, and requests no others', async (part) => {
    const nothing = { unused: [], refused: [], beyond: [] };
    await vi.waitFor(async () => expect(await usedRights(world, part)).toEqual(nothing), generous);
  });
});

describe('Viola', () => {
  it.each([
    ['without a token', undefined, 401],
    ['with a token of another cluster', 'foreign', 403],
    ['with a read-only token', 'readOnly', 403],
  ] as const)('Viola refuses a POST %s', async (_what, token, status) => {
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
