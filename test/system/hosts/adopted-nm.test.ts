import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Box } from '../../../rig/hosts/box/box.ts';
import { ip } from '../../../rig/hosts/namespace/command.ts';
import type { JobRequest, JobResult } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { type CloudImage, renderedByCloudInit } from '../../fixtures/cloud-init.ts';
import { KernelEvents, longestGap } from '../../fixtures/kernel-events.ts';
import { nic } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { rotated } from '../../rotation.ts';
import { agentIn, boxForAgents, withoutBus } from './box-agent.ts';
import { startDhcp } from './dhcp-server.ts';

const leasedMac = '02:00:00:00:01:04';
const fixedMac = '02:00:00:00:01:05';
const wanted = [
  nic(0, leasedMac, '10.0.0.51/24', { gateway: '10.0.0.254', mtu: 1500 }),
  nic(1, fixedMac, '10.1.0.50/16', { mtu: 1500 }),
];

const primary = { mac: '02:00:00:00:00:01', address: '10.200.0.2', gateway: '10.200.0.254' };

/** Nova's metadata for a server with three ports; cloud-init names the NICs by id. */
const networkData = ([leased, fixed]: readonly [string, string]) => ({
  links: [
    [primary.mac, 'eth0'] as const,
    [leasedMac, leased] as const,
    [fixedMac, fixed] as const,
  ].map(([mac, id]) => ({ id, type: 'ovs', ethernet_mac_address: mac, mtu: 1500, vif_id: id })),
  networks: [
    { id: 'n0', link: 'eth0', network_id: 'n0', ...staticNetwork(primary.address) },
    { id: 'n1', link: leased, network_id: 'n1', type: 'ipv4_dhcp', routes: [] },
    { id: 'n2', link: fixed, network_id: 'n2', ...staticNetwork('10.1.0.50'), routes: [] },
  ],
  services: [],
});

function staticNetwork(address: string) {
  const routes = [{ network: '0.0.0.0', netmask: '0.0.0.0', gateway: primary.gateway }];
  return { type: 'ipv4', ip_address: address, netmask: '255.255.0.0', routes };
}

const managers = [
  ['keyfile', 'enterprise-linux-10', '/etc/NetworkManager/system-connections'],
  ['ifcfg', 'enterprise-linux', '/etc/sysconfig/network-scripts'],
] as const satisfies [JobRequest['family'] & string, CloudImage, string][];

type NetworkManagerFamily = (typeof managers)[number][0];

let box: Box | undefined;
afterEach(async () => {
  await box?.down();
  box = undefined;
});

/** Writes cloud-init's files for these link names; returns the paths. */
async function render(host: Box, image: CloudImage, names: readonly [string, string]) {
  const files = Object.entries(await renderedByCloudInit(image, networkData(names))).filter(
    ([path]) => path.includes('/system-connections/') || path.includes('/network-scripts/'),
  );
  const root = await host.root();
  for (const [path, text] of files) {
    const real = join(root, path);
    await mkdir(dirname(real), { recursive: true });
    // Red Hat's build of cloud-init leaves this line out.
    const managed = text.replace('NM_CONTROLLED=no\n', '');
    // Debian 12's version has no name servers in profiles.
    const servers = path.includes('eth0') ? (image === 'enterprise-linux' ? 'DNS1=' : 'dns=') : '';
    await writeFile(real, servers ? `${managed}${servers}10.200.0.53\n` : managed);
    await chmod(real, 0o600);
  }
  return files.map(([path]) => path);
}

/** Text, mode and owner of foreign profiles. */
const foreignFiles = (host: Box, folder: string) =>
  host.sh([
    'sh',
    '-c',
    `for path in $(find ${folder} -maxdepth 1 -type f ! -name '*multinic*' ! -name '.*' | sort); do stat -c '%n %a %u:%g' $path; cat $path; done`,
  ]);

interface KernelLink {
  readonly address: string;
  readonly addr_info: readonly {
    readonly family: string;
    readonly local: string;
    readonly dynamic?: boolean;
  }[];
}

async function untilConfigured(host: Box, expected: Readonly<Record<string, string>>) {
  await eventually(async () => {
    const links = JSON.parse(await ip(['-n', host.netns, '-j', 'addr'])) as KernelLink[];
    const found = links.map(({ address, addr_info: all }) => {
      const four = all.filter(({ family }) => family === 'inet');
      return [address, four.map((one) => one.local + (one.dynamic ? ' dynamic' : '')).join(' ')];
    });
    expect(Object.fromEntries(found)).toMatchObject(expected);
  });
}

const byCloudInit = { [leasedMac]: '10.0.0.51 dynamic', [fixedMac]: '10.1.0.50' };
const byAgent = { [leasedMac]: '10.0.0.51', [fixedMac]: '10.1.0.50' };
const configured = [
  { name: 'multinic0', state: 'Configured' },
  { name: 'multinic1', state: 'Configured' },
];

async function boxWithPorts(family: NetworkManagerFamily): Promise<Box> {
  const host = await boxForAgents(`adopted-${family}`, { suite: 'bookworm', profile: family });
  box = host;
  await host.plug('ens4', leasedMac);
  await host.plug('ens5', fixedMac);
  return host;
}

/** Boots a server whose ports cloud-init configured. */
async function bootCreated(host: Box, image: CloudImage, folder: string): Promise<void> {
  await rm(join(await host.root(), folder), { recursive: true });
  await render(host, image, ['ens4', 'ens5']);
  await host.reboot();
  await untilConfigured(host, byCloudInit);
}

/** Requests with consent to the agent of one host, in order. */
function agentOn(host: Box, family: NetworkManagerFamily, under: readonly string[] = []) {
  let attempt = 0;
  return (action: JobRequest['action'], more: Partial<JobRequest> = {}): Promise<JobResult> => {
    attempt += 1;
    const base = { protocol: 6, family, action, attempt, existingConfiguration: 'Adopt' } as const;
    return agentIn(host, request(wanted, { ...base, ...more }), under);
  };
}

test.each(rotated('managers of adopted profiles', managers, 2, ([family]) => family))(
  'NICs in profiles of cloud-init are observed, adopted, rebooted, rendered again and released: %s',
  async (family, image, folder) => {
    const host = await boxWithPorts(family);
    await using dhcp = await startDhcp(host.fabric, [`--dhcp-host=${leasedMac},10.0.0.51`]);
    expect(dhcp.pid).toBeGreaterThan(0);
    await bootCreated(host, image, folder);
    const agent = agentOn(host, family);
    const foreign = await foreignFiles(host, folder);
    using events = new KernelEvents([{ name: 'host', host }], ['-ts']);
    await events.untilSilent();
    const silent = [...events.lines];
    expect(await agent('check')).toMatchObject({
      nics: [{ found: { adoption: 'Now' } }, { found: { adoption: 'Now' } }],
    });
    await events.untilSilent();
    expect([await foreignFiles(host, folder), events.lines]).toEqual([foreign, silent]);

    const adopted = await agent('apply');
    expect(adopted).toMatchObject({ outcome: 'ok', nics: configured });
    await events.untilSilent();
    const changes = events.lines.slice(silent.length);
    expect(changes.filter((line) => line.includes('eth0'))).toEqual([]);
    expect(longestGap(changes)).toBeLessThan(1_000);
    if (family === 'keyfile') expect(await foreignFiles(host, folder)).toBe(foreign);
    await untilConfigured(host, byAgent);

    await host.reboot();
    await untilConfigured(host, byAgent);
    expect(await ip(['-n', host.netns, 'rule'])).toMatch(/from 10\.0\.0\.51 lookup 100\b/);
    expect(await agent('check')).toMatchObject({ outcome: 'ok', nics: configured });

    // cloud-init renders the NICs under their new names, and activates the profiles.
    const paths = await render(host, image, ['multinic0', 'multinic1']);
    const loaded = paths.filter((path) => path.includes('multinic') && !path.includes('/route'));
    for (const path of loaded) {
      await host.sh(['nmcli', 'connection', 'load', path]);
      await host.exec(['nmcli', 'connection', 'up', 'filename', path]);
    }
    await eventually(async () => expect((await agent('check')).nics).not.toMatchObject(configured));
    const again = await agent('apply');
    expect(again).toMatchObject({ outcome: 'ok', nics: configured });
    await untilConfigured(host, byAgent);
    await host.reboot();
    await untilConfigured(host, byAgent);
    expect(await agent('check')).toMatchObject({ outcome: 'ok', nics: configured });

    const mayRemove = [leasedMac, fixedMac];
    const released = await agent('apply', { interfaces: [], mayRemove, generation: 2 });
    expect(released).toMatchObject({
      outcome: 'ok',
      nics: [{ state: 'Removed' }, { state: 'Removed' }],
    });
    expect(await foreignFiles(host, folder)).toBe(foreign);
    await host.reboot();
    await untilConfigured(host, byCloudInit);

    // Released in the same boot, NetworkManager takes the NICs back at once.
    expect(await agent('apply', { generation: 3 })).toMatchObject({ nics: configured });
    await agent('apply', { interfaces: [], mayRemove, generation: 4 });
    await untilConfigured(host, byCloudInit);
    expect(await foreignFiles(host, folder)).toBe(foreign);
  },
);

test.each(
  rotated('managers of profiles adopted at boot', managers.toReversed(), 2, ([family]) => family),
)(
  'NICs in profiles of cloud-init are adopted at the next boot without the system bus: %s',
  async (family, image, folder) => {
    const host = await boxWithPorts(family);
    await using dhcp = await startDhcp(host.fabric, [`--dhcp-host=${leasedMac},10.0.0.51`]);
    expect(dhcp.pid).toBeGreaterThan(0);
    await bootCreated(host, image, folder);
    const agent = agentOn(host, family, withoutBus);
    using events = new KernelEvents([{ name: 'host', host }]);
    await events.untilSilent();
    const silent = [...events.lines];
    const pending = { nics: wanted.map(() => ({ state: 'Pending', reason: 'AdoptedAtBoot' })) };
    expect(await agent('apply')).toMatchObject(pending);
    expect(await agent('check')).toMatchObject(pending);
    await events.untilSilent();
    expect(events.lines).toEqual(silent);
    await host.reboot();
    await untilConfigured(host, byAgent);
    expect(await agent('check')).toMatchObject({ outcome: 'ok', nics: configured });
  },
);
