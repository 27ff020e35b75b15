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
/** What 99-default.link makes of a PCI NIC: the names of its slot and path, of which one is the kernel name. */
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
  test('gets the old name back when a NIC is detached', async () => {
    await hostWithUdev('slot-detach');
    const attached = await runAgent(host, request([wanted]));
    expect(attached.result?.outcome, attached.stderr).toBe('ok');
    await eventually(async () => expect(await altNames()).toContain('ens5'));
    const { result } = await runAgent(host, request([], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5', reason: 'Removed' }] });
  });

  test('has a first attach that the kernel refused undone, and the next one works', async () => {
    await hostWithUdev('slot-undo');
    const path = await denyingIp(host, '^rule.add');
    const failed = await runAgent(host, request([wanted]), { path });
    expect(failed.result?.nics[0]).toMatchObject({ name: 'ens5', reason: 'ApplyFailed' });
    expect(await nameNow()).toBe('ens5');
    const later = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(later.result?.outcome).toBe('ok');
  });

  test('recovers from an agent that was killed after its batch', async () => {
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

describe('a host whose udev sets the MTU of a file after each rename', () => {
  test('has the MTU that was asked for, and keeps it', async () => {
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
    // udev takes events in order: what it did about the rename came before what it does about another plug.
    await host.plug('ens9', other);
    await eventually(async () => expect(await links()).toContain('"mtu":1300'));
    expect(await host.ipJson('link', 'show', 'dev', 'multinic0')).toMatchObject([{ mtu: 1400 }]);
  });
});

/** What netplan 0.106 generates at boot from our file. */
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

/** Somebody else's NIC, which networkd sets when it is plugged. */
const probeMac = '02:00:00:00:01:99';
const probeFile = `[Match]\nMACAddress=${probeMac}\n[Network]\nAddress=10.9.0.1/24\n`;

/** The kernel forgets, networkd sets what the files of the boot say, and the agent's memory is of an earlier boot. */
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

describe('a host whose networkd holds what it read at boot', () => {
  test('loses an old address again that networkd has brought back', async () => {
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

  test('leaves the rules of a NIC that came after the boot, whatever else networkd sets', async () => {
    host = await createHost('kept', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    await reboot();
    const [later, probe] = ['02:00:00:00:01:09', probeMac];
    await host.plug('ens6', later);
    const both = request([wanted, nic(1, later, '10.0.0.12/16')], { generation: 2 });
    expect((await runAgent(host, both)).result?.outcome).toBe('ok');
    const before = await rules();
    expect(before).toMatch(/^10101:\s+from 10\.0\.0\.12 lookup 101/m);
    // With each link that it sets networkd drops the rules that it does not know.
    await host.plug('ens9', probe);
    await eventually(async () => expect(await addressesOf('ens9')).toContain('10.9.0.1'));
    expect(await rules()).toBe(before);
    const again = await runAgent(host, { ...both, attempt: 1 });
    expect(again.result?.outcome).toBe('ok');
    expect(await rules()).toBe(before);
  });

  test('sets at boot what our file says, though another one is for all such names', async () => {
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

  test('gets a NIC that was unplugged and comes back with another address right at once', async () => {
    host = await createHost('replugged', { nics: { ens5: mac } });
    const name = '10-netplan-multinic0.network';
    await mkdir(join(host.root, 'run/systemd/network'), { recursive: true });
    await writeFile(join(host.root, 'run/systemd/network', name), bootFile);
    managers = [await startNetworkd(host, { [name]: bootFile })];
    const moved = { ...wanted, addresses: ['10.0.0.21/16'] };
    const { result } = await runAgent(host, request([moved]));
    expect(result?.nics[0]).toMatchObject({ reason: 'Configured', message: '' });
    // It has seen the carrier, and has done what it held.
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
