import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { type Manager, startNetworkd, startUdev } from '../../../rig/hosts/namespace/managers.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { nic, runAgent } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';
import { denyingIp } from '../../host/line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16');
/** Names from 99-default.link for a PCI NIC: slot and path; udev uses one as kernel name. */
const slotNames = `[Match]\nMACAddress=${mac}\n[Link]\nAlternativeName=ens5\nAlternativeName=enp0s5\n`;

let host: NamespaceHost;
let managers: Manager[] = [];

afterEach(async () => {
  for (const manager of managers) await manager.stop();
  managers = [];
  await host.down();
});

async function hostWithUdev(name: string, link = slotNames): Promise<void> {
  host = await createHost(name);
  managers = [await startUdev(host, { '50-slot.link': link })];
  await host.plug('ens5', mac);
  await eventually(async () => expect(await altNames()).toContain('enp0s5'));
}

async function altNames(): Promise<string[]> {
  const links = (await host.ipJson('link', 'show')) as { address: string; altnames?: string[] }[];
  return links.find(({ address }) => address === mac)?.altnames ?? [];
}

async function nameNow(): Promise<string> {
  const links = (await host.ipJson('link', 'show')) as { address: string; ifname: string }[];
  return links.find(({ address }) => address === mac)?.ifname ?? '';
}

describe('a host whose udev makes the slot name an alternative name', () => {
  test('a detached NIC gets its old name back', async () => {
    await hostWithUdev('slot-detach');
    const attached = await runAgent(host, request([wanted]));
    expect(attached.result?.outcome, attached.stderr).toBe('ok');
    await eventually(async () => expect(await altNames()).toContain('ens5'));
    const { result } = await runAgent(host, request([], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5', reason: 'Removed' }] });
  });

  test('a first attach that the kernel refused is rolled back, and the next attach succeeds', async () => {
    await hostWithUdev('slot-undo');
    const path = await denyingIp(host, '^rule.add');
    const failed = await runAgent(host, request([wanted]), { path });
    expect(failed.result?.nics[0]).toMatchObject({ name: 'ens5', reason: 'ApplyFailed' });
    expect(await nameNow()).toBe('ens5');
    const later = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(later.result?.outcome).toBe('ok');
  });

  test('the next agent run recovers from an agent killed after the ip batch', async () => {
    await hostWithUdev('slot-kill');
    const killed = await runAgent(host, request([wanted]), {
      killAt: 'agent.kernel.batch after 1',
    });
    expect(killed.code).toBe(137);
    await eventually(async () => expect(await altNames()).toContain('ens5'));
    const { result } = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(result?.outcome).toBe('ok');
    expect(await host.ip('-br', '-4', 'addr', 'show', 'dev', 'multinic0')).toContain('10.0.0.11');
  });
});

describe('a host with a udev rule that sets the MTU after each rename', () => {
  test('the NIC gets and keeps the requested MTU', async () => {
    host = await createHost('late-mtu');
    const other = '02:00:00:00:01:09';
    const files = {
      '50-mtu.link': `[Match]\nMACAddress=${mac}\n[Link]\nMTUBytes=1450\n`,
      '51-probe.link': `[Match]\nMACAddress=${other}\n[Link]\nMTUBytes=1300\n`,
    };
    managers = [await startUdev(host, files)];
    await host.plug('ens5', mac);
    const links = async () => JSON.stringify(await host.ipJson('link', 'show'));
    await eventually(async () => expect(await links()).toContain('"mtu":1450'));
    const { result } = await runAgent(host, request([{ ...wanted, mtu: 1400 }]));
    expect(result?.outcome).toBe('ok');
    // udev handles events in order: the probe's event ends after the event for the rename.
    await host.plug('ens9', other);
    await eventually(async () => expect(await links()).toContain('"mtu":1300'));
    expect(await host.ipJson('link', 'show', 'dev', 'multinic0')).toMatchObject([{ mtu: 1400 }]);
  });
});

/** Output of netplan 0.106 at boot for our file. */
const bootFile = `[Match]
MACAddress=${mac}
Name=multinic0

[Link]
MTUBytes=1450
RequiredForOnline=no

[Network]
LinkLocalAddressing=no
IPv6AcceptRA=no
Address=10.0.0.11/16

[Route]
Destination=10.0.0.0/16
Scope=link
PreferredSource=10.0.0.11
Metric=100
Table=100

[RoutingPolicyRule]
From=10.0.0.11/32
Table=100
Priority=10100
`;

/** A foreign NIC that networkd configures when plugged. */
const probeMac = '02:00:00:00:01:99';
const probeFile = `[Match]\nMACAddress=${probeMac}\n[Network]\nAddress=10.9.0.1/24\n`;

/** A reboot: flushes the kernel state, networkd applies the boot files, and the agent's state is from an earlier boot. */
async function reboot(): Promise<Manager> {
  await host.ip('addr', 'flush', 'dev', 'multinic0');
  await host.ip('rule', 'del', 'priority', '10100');
  await host.ip('link', 'set', 'dev', 'multinic0', 'down');
  const path = join(host.root, 'var/lib/multinic/state.json');
  const state = await readFile(path, 'utf8');
  await writeFile(path, state.replace(/"bootId": "[^"]*"/, '"bootId": "earlier"'));
  return restartNetworkd();
}

async function restartNetworkd(): Promise<Manager> {
  const manager = await startNetworkd(host, {
    '10-netplan-multinic0.network': bootFile,
    '20-probe.network': probeFile,
  });
  managers = [manager];
  await eventually(async () => expect(await addresses()).toContain('10.0.0.11'));
  return manager;
}

function addresses(): Promise<string> {
  return addressesOf('multinic0');
}

function addressesOf(dev: string): Promise<string> {
  return host.ip('-br', '-4', 'addr', 'show', 'dev', dev);
}

describe('a host with networkd in the state of the last boot', () => {
  test('the agent removes an old address again that networkd has restored', async () => {
    host = await createHost('held', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const networkd = await reboot();
    const same = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(same.result?.outcome).toBe('ok');
    const moved = { ...wanted, addresses: ['10.0.0.21/16'] };
    const edited = await runAgent(host, request([moved], { generation: 2 }));
    expect(edited.result?.outcome).toBe('ok');
    await networkd.stop();
    await restartNetworkd();
    const { result } = await runAgent(host, request([moved], { generation: 2, attempt: 1 }));
    expect(result?.nics[0]).toMatchObject({ reason: 'Configured', message: '' });
    expect(await addresses()).toMatch(/10\.0\.0\.21/);
    expect(await addresses()).not.toMatch(/10\.0\.0\.11/);
    expect(await host.ip('rule', 'show')).not.toContain('10.0.0.11');
  });

  test('networkd leaves the rules of a NIC added after the boot, although it configures a different NIC', async () => {
    host = await createHost('kept', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    await reboot();
    const [later, probe] = ['02:00:00:00:01:09', probeMac];
    await host.plug('ens6', later);
    const both = request([wanted, nic(1, later, '10.0.0.12/16')], { generation: 2 });
    expect((await runAgent(host, both)).result?.outcome).toBe('ok');
    const before = await rules();
    expect(before).toMatch(/^10101:\s+from 10\.0\.0\.12 lookup 101/m);
    // For each configured link networkd removes unknown rules.
    await host.plug('ens9', probe);
    await eventually(async () => expect(await addressesOf('ens9')).toContain('10.9.0.1'));
    expect(await rules()).toBe(before);
    const again = await runAgent(host, { ...both, attempt: 1 });
    expect(again.result?.outcome).toBe('ok');
    expect(await rules()).toBe(before);
  });

  test('our file wins at boot over a catch-all file for the same names', async () => {
    host = await createHost('catch-all', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const written = await readFile(join(host.root, 'etc/netplan/90-multinic0.yaml'), 'utf8');
    const id = /ethernets:\n {4}(\S+):/.exec(written)?.[1];
    await host.ip('addr', 'flush', 'dev', 'multinic0');
    await host.ip('link', 'property', 'add', 'dev', 'multinic0', 'altname', 'ens5');
    const all = '[Match]\nName=en*\n[Network]\nDHCP=ipv4\n';
    const files = { [`10-netplan-${id}.network`]: bootFile, '10-netplan-all-en.network': all };
    managers = [await startNetworkd(host, files)];
    await eventually(async () => expect(await addresses()).toContain('10.0.0.11'));
    expect(managers[0]?.log()).not.toContain('all-en.network');
  });

  test('a NIC that was unplugged and returns with a new address is configured at once', async () => {
    host = await createHost('replugged', { nics: { ens5: mac } });
    const name = '10-netplan-multinic0.network';
    await mkdir(join(host.root, 'run/systemd/network'), { recursive: true });
    await writeFile(join(host.root, 'run/systemd/network', name), bootFile);
    managers = [await startNetworkd(host, { [name]: bootFile })];
    const moved = { ...wanted, addresses: ['10.0.0.21/16'] };
    const { result } = await runAgent(host, request([moved]));
    expect(result?.nics[0]).toMatchObject({ reason: 'Configured', message: '' });
    // networkd has detected the carrier and applied the stale configuration.
    await eventually(async () => expect(managers[0]?.log()).toContain('Reconfiguring with'));
    expect(await addresses()).toMatch(/10\.0\.0\.21/);
    expect(await addresses()).not.toMatch(/10\.0\.0\.11/);
    expect(await host.ip('rule', 'show')).not.toContain('10.0.0.11');
    const again = await runAgent(host, request([moved], { attempt: 1 }));
    expect(again.result?.outcome).toBe('ok');
  });
});

function rules(): Promise<string> {
  return host.ip('rule', 'show');
}
