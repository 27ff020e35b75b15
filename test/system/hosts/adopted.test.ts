import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import type { JobRequest, JobResult } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { KernelEvents, longestGap } from '../../fixtures/kernel-events.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { ipWith } from '../../host/line-by-line-ip.ts';
import { rotated } from '../../rotation.ts';
import { agentIn, boxForAgents, withoutBus } from './box-agent.ts';
import { type CreatedServer, createWithPorts, newInstance } from './created-with-ports.ts';
import { startDhcp } from './dhcp-server.ts';

const leasedMac = '02:00:00:00:01:04';
const fixedMac = '02:00:00:00:01:05';
const otherMac = '02:00:00:00:01:06';
const leased = '10.0.0.51/24';
const fixed = '10.1.0.50/16';
const other = '10.2.0.50/16';

/** Ports at creation: the node's own, DHCP, static. */
const ports = [
  {
    name: 'eth0',
    mac: '02:00:00:00:00:01',
    mtu: 1500,
    address: '10.200.0.2',
    gateway: '10.200.0.254',
  },
  { name: 'ens4', mac: leasedMac, mtu: 1450 },
  { name: 'ens5', mac: fixedMac, mtu: 1500, address: '10.1.0.50' },
  { name: 'ens6', mac: otherMac, mtu: 1500, address: '10.2.0.50' },
];

/** The addresses in cloud-init's configuration, so all stay on the links. */
const wanted = [
  nic(0, leasedMac, leased, { gateway: '10.0.0.254' }),
  nic(1, fixedMac, fixed),
  nic(2, otherMac, other),
];
const all = <T>(item: T): T[] => wanted.map(() => item);

let box: Box | undefined;
afterEach(async () => {
  await box?.down();
  box = undefined;
});

/** Box with the ports of a server. */
async function serverWithPorts({ suite, renderer }: CreatedServer): Promise<Box> {
  const host = await boxForAgents(`adopted-${renderer}`, { suite, profile: renderer });
  box = host;
  for (const { name, mac } of ports.slice(1)) await host.plug(name, mac);
  return host;
}

const dhcpFor = (host: Box) =>
  startDhcp(host.fabric, [`--dhcp-host=${leasedMac},10.0.0.51`, '--dhcp-option=6,10.0.0.53']);

/** Boots the server; cloud-init configures all ports. */
async function bootCreated(host: Box, created: CreatedServer): Promise<void> {
  await createWithPorts(host, created);
  await host.reboot();
  await untilConfigured(host, byCloudInit);
}

const byAgent = { [leasedMac]: leased, [fixedMac]: fixed, [otherMac]: other };
const byCloudInit = { ...byAgent, [leasedMac]: `${leased} dynamic` };

interface KernelLink {
  readonly ifname: string;
  readonly address: string;
  readonly addr_info: readonly {
    readonly family: string;
    readonly local: string;
    readonly prefixlen: number;
    readonly dynamic?: boolean;
  }[];
}

async function linksOf({ netns }: Box): Promise<KernelLink[]> {
  return JSON.parse(await ip(['-n', netns, '-j', 'addr'])) as KernelLink[];
}

/** Returns IPv4 addresses by MAC; leased addresses are marked `dynamic`. */
async function addressesOf(host: Box): Promise<Record<string, string>> {
  const texts = (await linksOf(host)).map(({ address, addr_info: infos }) => [
    address,
    infos
      .filter(({ family }) => family === 'inet')
      .map((each) => `${each.local}/${each.prefixlen}${each.dynamic ? ' dynamic' : ''}`)
      .join(', '),
  ]);
  return Object.fromEntries(texts) as Record<string, string>;
}

async function untilConfigured(host: Box, expected: Readonly<Record<string, string>>) {
  await eventually(async () => expect(await addressesOf(host)).toMatchObject(expected));
}

/** Text, mode and owner of the network files of other software. */
async function foreignFiles(host: Box): Promise<string> {
  const script = `find /etc/netplan /etc/systemd/network -type f ! -name '*multinic[0-9]*' -o -name '*cloud-init-*' | sort |
    while read -r path; do stat -c '%n %a %u:%g' "$path"; cat "$path"; done`;
  return host.sh(['sh', '-c', script]);
}

/** Returns a command prefix for an agent amid whose batches networkd configures a link again. */
async function disturbed(host: Box): Promise<readonly string[]> {
  const disturb = 'networkctl reconfigure multinic0 && echo $line >/root/disturbed';
  const root = join(await host.root(), 'root');
  await ipWith({ root }, `[[ $line =~ ^rule.add.from.10.0.0.51 ]] && ${disturb}`);
  return ['env', 'PATH=/root/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
}

/** Requests to the agent of one host, in order. */
function agentOn(host: Box, { renderer }: CreatedServer, under: readonly string[] = []) {
  let generation = 0;
  return (
    action: JobRequest['action'],
    interfaces = wanted,
    more: Partial<JobRequest> = {},
  ): Promise<JobResult> => {
    generation += 1;
    const asked = request(interfaces, {
      protocol: 6,
      family: renderer,
      action,
      generation,
      existingConfiguration: 'Adopt',
      ...more,
    });
    return agentIn(host, asked, under);
  };
}

type Agent = ReturnType<typeof agentOn>;

const configured = wanted.map(({ index }) => ({
  name: `multinic${index}`,
  state: 'Configured',
}));
const removal = { mayRemove: wanted.map(({ mac }) => mac) };
const removed = { outcome: 'ok', nics: all({ state: 'Removed' }) };

/** Adopted NICs after a boot, which the network manager configured before any agent run. */
async function expectAdoptedAfterBoot(host: Box, agent: Agent): Promise<void> {
  await untilConfigured(host, byAgent);
  expect(await ip(['-n', host.netns, 'rule'])).toMatch(/from 10\.0\.0\.51 lookup 100\b/);
  const { nics } = await agent('check');
  // cloud-init may have given a NIC its former name.
  if (nics.some(({ state }) => state !== 'Configured')) await agent('apply');
  expect(await agent('check')).toMatchObject({ outcome: 'ok', nics: configured });
  await untilConfigured(host, byAgent);
}

const server = (
  suite: CreatedServer['suite'],
  renderer: CreatedServer['renderer'],
  source: CreatedServer['source'],
): CreatedServer => ({ suite, renderer, source, ports });

/** Servers of this run. */
const inTurn = (table: string, first: CreatedServer, second: CreatedServer) =>
  rotated(`adopted, ${table}`, [first, second], 2, (each) => `${each.renderer} ${each.source}`);

describe('a server whose ports cloud-init configured', () => {
  // systemd 257 releases a renamed link by itself, without a call.
  const atOnce = [
    server('bookworm', 'netplan', 'OpenStack'),
    server('trixie', 'networkd', 'NoCloud'),
  ] as const;
  test.each(inTurn('at once', ...atOnce))(
    'is observed, adopted, rebooted, rendered again and released: $suite, $renderer, $source',
    async (created) => {
      const host = await serverWithPorts(created);
      await using dhcp = await dhcpFor(host);
      expect(dhcp.pid).toBeGreaterThan(0);
      await bootCreated(host, created);
      const agent = agentOn(host, created);
      const foreign = await foreignFiles(host);
      using events = new KernelEvents([{ name: 'host', host }], ['-ts']);
      await events.untilSilent();
      const silent = [...events.lines];
      expect(await agent('check')).toMatchObject({
        nics: all({ found: { adoption: 'Now' } }),
      });
      await events.untilSilent();
      expect([await foreignFiles(host), events.lines]).toEqual([foreign, silent]);

      expect(await agent('apply')).toMatchObject({ outcome: 'ok', nics: configured });
      await events.untilSilent();
      const changes = events.lines.slice(silent.length);
      expect(changes.filter((line) => line.includes('eth0'))).toEqual([]);
      expect(longestGap(changes)).toBeLessThan(1_000);
      expect(await foreignFiles(host)).toBe(foreign);
      await untilConfigured(host, byAgent);

      // networkd still has the foreign files in memory.
      expect(await agent('apply', [], removal)).toMatchObject(removed);
      await untilConfigured(host, byCloudInit);
      expect(await agent('apply')).toMatchObject({ nics: configured });
      expect(await foreignFiles(host)).toBe(foreign);

      await host.reboot();
      await expectAdoptedAfterBoot(host, agent);

      await newInstance(host, created, 'second');
      await host.reboot();
      await expectAdoptedAfterBoot(host, agent);

      const rendered = await foreignFiles(host);
      expect(await agent('apply', [], removal)).toMatchObject(removed);
      expect(await addressesOf(host)).toMatchObject({
        [leasedMac]: '',
        [fixedMac]: '',
        [otherMac]: '',
      });
      expect(await foreignFiles(host)).toBe(rendered);
      await host.reboot();
      await untilConfigured(host, byCloudInit);
    },
  );

  test.each(inTurn('disturbed', ...atOnce))(
    'is adopted after a bus without answers, while networkd acts: $suite, $renderer, $source',
    async (created) => {
      const host = await serverWithPorts(created);
      await using dhcp = await dhcpFor(host);
      expect(dhcp.pid).toBeGreaterThan(0);
      await bootCreated(host, created);
      const foreign = await foreignFiles(host);
      using events = new KernelEvents([{ name: 'host', host }]);
      await events.untilSilent();
      const silent = [...events.lines];
      const bus = (await host.sh(['systemctl', 'show', '-P', 'MainPID', 'dbus'])).trim();
      await host.sh(['kill', '-STOP', bus]);
      expect(await agentOn(host, created)('apply')).toMatchObject({
        nics: all({ state: 'Pending', reason: 'AdoptedAtBoot', code: 'BusFailed' }),
      });
      await events.untilSilent();
      expect(events.lines).toEqual(silent);
      await host.sh(['kill', '-CONT', bus]);
      const agent = agentOn(host, created, await disturbed(host));
      expect(await agent('apply', wanted, { generation: 2 })).toMatchObject({
        outcome: 'ok',
        nics: configured,
      });
      expect(await host.sh(['cat', '/root/disturbed'])).toContain('rule add from 10.0.0.51');
      await untilConfigured(host, byAgent);
      expect(await agent('check', wanted, { generation: 3 })).toMatchObject({ nics: configured });
      expect(await foreignFiles(host)).toBe(foreign);
      expect(events.lines.slice(silent.length).filter((line) => line.includes('eth0'))).toEqual([]);
    },
  );

  const atBoot = [
    server('bookworm', 'networkd', 'OpenStack'),
    server('trixie', 'netplan', 'NoCloud'),
  ] as const;
  test.each(inTurn('at boot', ...atBoot))(
    'is adopted at the next boot without the system bus: $suite, $renderer, $source',
    async (created) => {
      const host = await serverWithPorts(created);
      await using dhcp = await dhcpFor(host);
      expect(dhcp.pid).toBeGreaterThan(0);
      await bootCreated(host, created);
      const agent = agentOn(host, created, withoutBus);
      using events = new KernelEvents([{ name: 'host', host }]);
      await events.untilSilent();
      const silent = [...events.lines];
      const pending = { nics: all({ state: 'Pending', reason: 'AdoptedAtBoot' }) };
      expect(await agent('apply')).toMatchObject(pending);
      await events.untilSilent();
      expect(events.lines).toEqual(silent);
      expect(await agent('check')).toMatchObject(pending);
      await host.reboot();
      await expectAdoptedAfterBoot(host, agent);
    },
  );
});
