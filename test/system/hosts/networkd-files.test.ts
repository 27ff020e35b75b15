import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../../rig/hosts/namespace/host.ts';
import { type Manager, startNetworkd } from '../../../rig/hosts/namespace/managers.ts';
import { type RequestInterface, routings } from '../../../src/api/job.ts';
import { request } from '../../fixtures/agent-samples.ts';
import { networkdLink } from '../../fixtures/recorded-managers.ts';
import { nic, runAgent } from '../../host/agent-process.ts';
import { eventually } from '../../host/eventually.ts';

const mac = '02:00:00:00:01:05';
const directory = 'etc/systemd/network';
const file = '90-multinic0.network';
const dual = nic(0, mac, '', {
  addresses: ['10.0.0.11/16', '10.1.0.11/16', 'fd00::11/64'],
  gateway: '10.0.0.254',
  gateway6: 'fd00::fe',
  routes: [
    { to: '10.77.0.0/24', via: '10.0.0.253' },
    { to: 'fd00:77::/48', via: 'fd00::fd' },
  ],
});

let host: NamespaceHost;
let manager: Manager | undefined;

afterEach(async () => {
  await manager?.stop();
  manager = undefined;
  await host.down();
});

/** A host where networkd manages the primary NIC by an administrator's file. */
async function hostOfNetworkd(name: string): Promise<void> {
  host = await createHost(name, {
    nics: { ens5: mac },
    fabricAddresses: ['10.0.0.254/16', 'fd00::fe/64'],
  });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  const inHand = join(host.root, 'run/systemd/netif/links');
  for (const each of [inHand, join(host.root, directory)]) await mkdir(each, { recursive: true });
  await writeFile(join(inHand, String(links[0]?.ifindex)), networkdLink.bookwormOwn);
}

async function configured(wanted: RequestInterface, attempt = 0) {
  const { result } = await runAgent(host, request([wanted], { family: 'networkd', attempt }));
  expect(result).toMatchObject({ outcome: 'ok', family: 'networkd' });
}

/** All addresses, routes and rules of the NIC, from any source. */
async function ofTheNic() {
  const shown = async (...args: readonly string[]) =>
    (await host.ip(...args))
      .split('\n')
      .map((line) => line.replace(/ (proto \w+|pref medium|onlink)/g, '').trim())
      // The kernel adds this route after duplicate address detection for an IPv6 address.
      .filter((line) => line !== '' && !line.includes('table local'))
      .toSorted();
  const addresses = (await host.ip('-br', 'addr', 'show', 'dev', 'multinic0')).split(/\s+/);
  const [four, six, rules, rules6] = await Promise.all([
    shown('-4', 'route', 'show', 'dev', 'multinic0', 'table', 'all'),
    shown('-6', 'route', 'show', 'dev', 'multinic0', 'table', 'all'),
    shown('-4', 'rule', 'show', 'priority', '10100'),
    shown('-6', 'rule', 'show', 'priority', '10100'),
  ]);
  return { addresses: addresses.slice(1).toSorted(), four, six, rules, rules6 };
}

/** Flushes the kernel state; networkd applies the files. */
async function reboot(): Promise<Manager> {
  await host.ip('link', 'set', 'dev', 'multinic0', 'down');
  await host.ip('addr', 'flush', 'dev', 'multinic0');
  for (const family of ['-4', '-6']) {
    await host.exec('ip', family, 'rule', 'flush', 'priority', '10100');
  }
  const text = await readFile(join(host.root, directory, file), 'utf8');
  return startNetworkd(host, { [file]: text });
}

describe('a host with only systemd-networkd', () => {
  test.each(routings)("a boot restores the NIC in the agent's form: %s", async (routing) => {
    await hostOfNetworkd(`files-${routing}`);
    await configured({ ...dual, routing });
    const made = await ofTheNic();
    expect(made.addresses).toEqual(expect.arrayContaining(['10.0.0.11/16', 'fd00::11/64']));
    expect(made.rules).toHaveLength(routing === 'pbr' ? 2 : 0);
    manager = await reboot();
    await eventually(async () => expect(await ofTheNic()).toEqual(made));
    expect(manager.log()).not.toMatch(/90-multinic0\.network:\d+/);
    await configured({ ...dual, routing }, 1);
    expect(await ofTheNic()).toEqual(made);
  });

  test('a NIC has a single address, and no IPv6, after a boot', async () => {
    await hostOfNetworkd('files-plain');
    await configured(nic(0, mac, '10.0.0.11/16', { mtu: 1400 }));
    const made = await ofTheNic();
    expect(made.addresses.filter((text) => text.includes(':'))).toEqual([]);
    manager = await reboot();
    await eventually(async () => expect(await ofTheNic()).toEqual(made));
    expect(await host.ipJson('link', 'show', 'dev', 'multinic0')).toMatchObject([{ mtu: 1400 }]);
  });
});
