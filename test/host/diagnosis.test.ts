import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { profileUuid } from '../../src/agent/backends/profile.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost, filesOfOurs } from './family-host.ts';
import { stateOf, without } from './host-state.ts';

const mac = '02:00:00:00:01:05';
const foreignMac = '02:00:00:00:09:09';
const gateway = '10.0.0.254';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway });

let host: NamespaceHost;
afterEach(() => host.down());

async function ask(entries: readonly RequestInterface[], more: Partial<JobRequest> = {}) {
  const { result, stderr } = await runAgent(host, request(entries, { protocol: 5, ...more }));
  if (!result) throw new Error(`no result: ${stderr}`);
  return result;
}

const apply = (generation = 1) => ask([wanted], { generation });
const check = () => ask([wanted], { action: 'check' });
const release = () => ask([], { generation: 9, mayRemove: [mac] });
const reasons = ({ nics }: Awaited<ReturnType<typeof ask>>) => nics.map(({ reason }) => reason);

/** Configures the NIC on a new host, and returns the host's state. */
async function configured(name: string) {
  host = await createHost(name, { nics: { ens5: mac } });
  expect(reasons(await apply())).toEqual(['Configured']);
  return stateOf(host);
}

describe('a recorded NIC after foreign changes', () => {
  test('a changed MAC is drift, and the next apply sets the MAC again', async () => {
    const before = await configured('mac');
    await host.ip('link', 'set', 'dev', 'multinic0', 'address', foreignMac);
    const drifted = await check();
    expect(reasons(drifted)).toEqual(['Drifted']);
    expect(drifted.nics[0]?.message).toContain(`address ${mac}`);
    expect(reasons(await apply())).toEqual(['Configured']);
    expect(await stateOf(host)).toEqual(before);
    expect(reasons(await release())).toEqual(['Removed']);
  });

  test('a copy of the rule with another protocol is no drift, and leaves with the NIC', async () => {
    await configured('copy');
    const copy = 'rule add from 10.0.0.11 table 100 priority 10100 protocol static';
    await host.ip(...copy.split(' '));
    expect(reasons(await check())).toEqual(['Configured']);
    expect(reasons(await release())).toEqual(['Removed']);
    expect(await host.ip('rule', 'show')).not.toContain('10.0.0.11');
  });

  test.each<[string, readonly string[]]>([
    [
      'a default route that NetworkManager copies from the table',
      ['route add default via 10.0.0.254 dev multinic0 metric 101 proto static'],
    ],
    [
      'a router advertisement',
      [
        '-6 addr add fd00:9::7/64 dev multinic0 valid_lft 600 preferred_lft 600',
        '-6 route add default via fe80::9 dev multinic0 proto ra metric 1024',
      ],
    ],
  ])('%s is drift that an apply and a removal undo', async (_, commands) => {
    const before = await configured('derived');
    const disturb = async () => {
      await host.exec('sh', '-c', 'echo 0 > /proc/sys/net/ipv6/conf/multinic0/addr_gen_mode');
      for (const command of commands) await host.ip(...command.split(' '));
    };
    await disturb();
    expect(reasons(await check())).toEqual(['Drifted']);
    expect(reasons(await apply())).toEqual(['Configured']);
    // The kernel lets the prefix route of a deleted address expire.
    expect(without(await stateOf(host), 'fd00:9::/64')).toEqual(before);
    await disturb();
    expect(reasons(await release())).toEqual(['Removed']);
    expect(await host.ip('route', 'show', 'default')).toContain('dev eth0');
  });

  test('a default route moved to the NIC stays', async () => {
    await configured('moved');
    const moved = 'route replace default via 10.0.0.254 dev multinic0';
    await host.ip(...moved.split(' '));
    expect(reasons(await check())).toEqual(['Configured']);
    const changed = { ...wanted, addresses: ['10.0.0.12/16'] };
    expect(reasons(await ask([changed], { generation: 2 }))).toEqual(['PrimaryNIC']);
    expect(await host.ip('route', 'show', 'default')).toContain('dev multinic0');
  });

  test('an address set by the legacy agent later is removed as drift', async () => {
    await configured('legacy');
    await host.ip('addr', 'add', '10.0.0.55/16', 'dev', 'multinic0');
    await host.ip('rule', 'add', 'from', '10.0.0.55', 'table', '100', 'priority', '10055');
    expect(reasons(await check())).toEqual(['Drifted']);
    expect(reasons(await apply())).toEqual(['Configured']);
    expect(await host.ip('addr', 'show', 'dev', 'multinic0')).not.toContain('10.0.0.55');
    expect(await host.ip('rule', 'show')).not.toContain('10.0.0.55');
  });

  test('an address changes without a moment without addresses, and foreign routes stay', async () => {
    await configured('address');
    await host.exec('sh', '-c', 'echo 0 > /proc/sys/net/ipv4/conf/multinic0/promote_secondaries');
    await host.ip('route', 'add', '10.77.0.0/16', 'via', '10.0.0.9', 'dev', 'multinic0');
    const kept = 'route add 10.78.0.0/16 via 10.0.0.254 dev multinic0 table 100';
    await host.ip(...kept.split(' '));
    await host.ip('route', 'del', '10.77.0.0/16');
    const changed = { ...wanted, addresses: ['10.0.0.12/16'] };
    const result = await ask([changed], { generation: 2 });
    expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'ok' });
    const setting = await host.exec('cat', '/proc/sys/net/ipv4/conf/multinic0/promote_secondaries');
    expect(setting.stdout.trim()).toBe('0');
  });
});

describe('NIC identity', () => {
  test("a veth of a container with the port's MAC is no NIC on a node with its own link in a bridge", async () => {
    host = await createHost('pair', {});
    await host.ip('link', 'add', 'br-ex', 'type', 'bridge');
    await host.ip('addr', 'flush', 'dev', 'eth0');
    await host.ip('link', 'set', 'dev', 'eth0', 'master', 'br-ex');
    await host.ip('addr', 'add', `${primary.address}/16`, 'dev', 'br-ex');
    await host.ip('link', 'set', 'dev', 'br-ex', 'up');
    await host.ip('route', 'add', 'default', 'via', primary.gateway);
    await host.ip('link', 'add', 'pod1', 'address', mac, 'type', 'veth', 'peer', 'name', 'inside');
    const before = await host.ip('-d', 'addr', 'show', 'dev', 'pod1');
    expect(reasons(await apply())).toEqual(['WaitingForNIC']);
    expect(await host.ip('-d', 'addr', 'show', 'dev', 'pod1')).toBe(before);
  });
});

describe('profile made by nmcli connection migrate', () => {
  const connections = 'etc/NetworkManager/system-connections';

  test('is ours by uuid: an apply replaces it without a kernel operation', async () => {
    host = await createFamilyHost('migrate', 'keyfile', { ens5: mac });
    expect(reasons(await ask([wanted], { family: 'keyfile' }))).toEqual(['Configured']);
    const [file = ''] = (await readdir(join(host.root, connections))).filter((name) =>
      name.includes('multinic0'),
    );
    const written = join(host.root, connections, file);
    await rename(written, join(host.root, connections, 'multinic0.nmconnection'));
    const before = await stateOf(host);
    const again = await ask([wanted], { family: 'keyfile', attempt: 1 });
    expect(reasons(again), JSON.stringify(again)).toEqual(['Configured']);
    expect(await stateOf(host)).toEqual(before);
    const files = Object.keys(await filesOfOurs(host)).filter((path) => path.includes('.nmcon'));
    expect(files).toEqual([`/${connections}/${file}`]);
  });

  test('a copy beside the recorded file claims the NIC, and stays', async () => {
    host = await createFamilyHost('copy', 'keyfile', { ens5: mac });
    await ask([wanted], { family: 'keyfile' });
    const names = await readdir(join(host.root, connections));
    const [file = ''] = names.filter((name) => name.includes('multinic0'));
    const text = await readFile(join(host.root, connections, file), 'utf8');
    expect(text).toContain(profileUuid({ mac, name: 'multinic0' }));
    const copy = join(host.root, connections, 'mine.nmconnection');
    await writeFile(copy, text, { mode: 0o600 });
    const changed = { ...wanted, mtu: 1300 };
    const result = await ask([changed], { family: 'keyfile', generation: 2 });
    expect(result.nics).toMatchObject([
      { reason: 'NICInUse', message: expect.stringContaining('mine.nmconnection') as string },
    ]);
    expect(await readFile(copy, 'utf8')).toBe(text);
  });
});

test("a removal without the files' folder ends when the folder is back", async () => {
  await configured('folder');
  const folder = join(host.root, 'etc/netplan');
  await rename(folder, `${folder}.away`);
  const left = await release();
  expect(left.nics).toMatchObject([{ state: 'Failed', reason: 'FilesLeft' }]);
  expect(await host.ip('addr', 'show')).not.toContain('10.0.0.11');
  expect(left.known).toEqual([{ mac, index: 0 }]);
  expect(reasons(await release())).toEqual(['FilesLeft']);
  await rename(`${folder}.away`, folder);
  expect(reasons(await release())).toEqual(['Removed']);
  expect(await filesOfOurs(host)).toEqual({});
});
