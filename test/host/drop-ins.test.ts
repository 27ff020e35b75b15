import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { networkdLink } from '../fixtures/recorded-managers.ts';
import { nic, runAgent } from './agent-process.ts';

const mac = '02:00:00:00:01:05';
const directory = 'etc/systemd/network';

let host: NamespaceHost;
afterEach(() => host.down());

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(host.root, path)), { recursive: true });
  await writeFile(join(host.root, path), text);
}

/** Creates a host whose own NIC networkd manages by a user's file. */
async function hostOfNetworkd(): Promise<void> {
  host = await createHost('drop-ins', { nics: { ens5: mac } });
  const links = (await host.ipJson('link', 'show', 'eth0')) as { readonly ifindex: number }[];
  await write(`run/systemd/netif/links/${links[0]?.ifindex}`, networkdLink.bookwormOwn);
}

test('a NIC configured by a foreign drop-in is refused, and the drop-in stays', async () => {
  await hostOfNetworkd();
  const wanted = request([nic(0, mac, '10.0.0.11/16')], { family: 'networkd' });
  const theirs = 'usr/lib/systemd/network/20-vendor.network';
  await write(theirs, '[Match]\nName=eno1\n');
  await write(`${directory}/20-vendor.network.d/ours.conf`, `[Match]\nMACAddress=${mac}\n`);
  const refused = await runAgent(host, wanted);
  expect(refused.result?.nics).toMatchObject([{ reason: 'NICInUse' }]);
  expect(refused.result?.nics[0]?.message).toContain(`/${theirs} [Network] configures`);
  await rm(join(host.root, directory, '20-vendor.network.d'), { recursive: true });
  const plain = await runAgent(host, { ...wanted, attempt: 1 });
  expect(plain.result).toMatchObject({ outcome: 'ok', warnings: [] });
  const path = `${directory}/90-multinic0.network.d/mtu.conf`;
  await write(path, '[Link]\nMTUBytes=9000\n');
  const { result } = await runAgent(host, { ...wanted, action: 'check' });
  expect(result?.nics).toMatchObject([{ reason: 'Configured' }]);
  expect(result?.warnings).toEqual([
    expect.stringContaining('NotPersistent multinic0, also configured by /etc/systemd/network/90'),
  ]);
  const changed = { ...wanted, generation: 2, interfaces: [nic(0, mac, '10.0.0.12/16')] };
  expect((await runAgent(host, changed)).result?.nics).toMatchObject([
    { reason: 'NICInUse', message: expect.stringContaining(`/${path} `) as string },
  ]);
  // The drop-in stays after the removal of the agent's file.
  const released = await runAgent(host, request([], { family: 'networkd', generation: 3 }));
  expect(released.result).toMatchObject({ outcome: 'ok', nics: [{ reason: 'Removed' }] });
  expect(await readFile(join(host.root, path), 'utf8')).toContain('9000');
});
