import { lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const good = nic(1, second, '10.1.0.12/16');

let host: NamespaceHost;
afterEach(() => host.down());

async function prepare(name: string, ...commands: readonly string[]): Promise<void> {
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
  for (const command of commands) await host.ip(...command.split(' '));
  if (commands.includes('link set dev ens5 up')) await untilChecked('ens5');
}

/**
 * Waits for duplicate detection on a link-local address, a second or two: only afterwards the kernel makes its route
 * (RFC 4862, 5.4).
 */
async function untilChecked(link: string): Promise<void> {
  const checked = ['-6', '-o', 'addr', 'show', 'dev', link, 'scope', 'link', '-tentative'];
  await expect.poll(async () => (await host.exec('ip', ...checked)).stdout).not.toBe('');
}

/** Expects the entry refused for this reason with its NIC unchanged, and the entry beside it configured. */
async function expectRefused(entry: RequestInterface, reason: string, words: RegExp) {
  const only = await runAgent(host, request([good]));
  expect(only.result?.outcome).toBe('ok');
  const before = await stateOf(host);
  const { code, result } = await runAgent(host, request([entry, good], { generation: 2 }));
  expect(result).toMatchObject({
    outcome: 'partial',
    nics: [
      { mac: entry.mac, state: 'Failed', reason, message: expect.stringMatching(words) as string },
      { mac: second, state: 'Configured' },
    ],
  });
  expect(code).toBe(1);
  expect(await stateOf(host)).toEqual(before);
}

const wanted = nic(0, first, '10.0.0.11/16');

describe('refused NICs', () => {
  test('the primary NIC is refused by its address', async () => {
    await prepare('primary');
    await expectRefused(nic(0, primary.mac, '10.0.0.11/16'), 'PrimaryNIC', /node's address/);
  });

  test('a NIC with a default route by a nexthop object alone is refused as PrimaryNIC', async () => {
    await prepare(
      'nexthop',
      'link set dev ens5 up',
      'nexthop add id 5 dev ens5',
      'nexthop add id 6 group 5',
      'route add default nhid 5 metric 50',
    );
    const off = await host.exec('sh', '-c', 'echo 0 > /proc/sys/net/ipv4/nexthop_compat_mode');
    expect(off.code, off.stderr).toBe(0);
    const { result } = await runAgent(host, request([wanted, good]));
    expect(result?.nics).toMatchObject([
      { name: 'ens5', reason: 'PrimaryNIC' },
      { name: 'multinic1', state: 'Configured' },
    ]);
    // The kernel reports no links for a nexthop group.
    await host.ip('route', 'replace', 'default', 'nhid', '6', 'metric', '50');
    const later = await runAgent(host, request([wanted], { generation: 2 }));
    expect(later.result?.nics[0]).toMatchObject({
      name: 'ens5',
      reason: 'PrimaryNIC',
      message: 'ens5 may be in the nexthop group of the default route in table 254',
    });
  });

  test('a NIC with a Node address is refused as PrimaryNIC', async () => {
    await prepare('node', 'addr add 10.0.9.9/32 dev ens5');
    const jobRequest = request([wanted, good], { protectedAddresses: ['10.0.9.9'] });
    const before = await stateOf(host);
    const { result } = await runAgent(host, jobRequest);
    expect(result?.nics[0]).toMatchObject({ reason: 'PrimaryNIC', name: 'ens5' });
    expect((await stateOf(host)).links.filter((line) => line.includes('ens5'))).toEqual(
      before.links.filter((line) => line.includes('ens5')),
    );
  });

  test('[RW-62] a NIC with a foreign address is refused as NICInUse', async () => {
    await prepare('address', 'addr add 10.7.0.1/24 dev ens5');
    await expectRefused(wanted, 'NICInUse', /10\.7\.0\.1\/24/);
  });

  test('a NIC with a foreign route is refused as NICInUse', async () => {
    await prepare('route', 'link set dev ens5 up', 'route add 10.8.0.0/24 dev ens5');
    await expectRefused(wanted, 'NICInUse', /10\.8\.0\.0\/24/);
  });

  test('a NIC with a global IPv6 address is refused as NICInUse', async () => {
    await prepare('six', 'link set dev ens5 up', 'addr add 2001:db8::5/64 dev ens5 nodad');
    await expectRefused(wanted, 'NICInUse', /2001:db8::5/);
  });

  test('a bridge member is refused as NICInUse', async () => {
    await prepare('member', 'link add br7 type bridge', 'link set dev ens5 master br7');
    await expectRefused(wanted, 'NICInUse', /br7/);
  });

  test('a NIC below a macvlan is refused as NICInUse', async () => {
    await prepare('upper', 'link add link ens5 name mac5 type macvlan');
    await expectRefused(wanted, 'NICInUse', /mac5/);
  });

  test('a NIC below a vxlan, as in flannel, is refused as NICInUse', async () => {
    const vxlan = 'link add flannel.1 type vxlan id 1 dev ens5 local 10.200.0.2 dstport 8472';
    await prepare('vxlan', vxlan);
    await expectRefused(wanted, 'NICInUse', /ens5 is the parent link of flannel.1/);
  });

  test('two NICs with the same MAC are refused as DuplicateMAC', async () => {
    await prepare('twins');
    await host.plug('ens7', '02:00:00:00:01:07');
    await host.ip('link', 'set', 'dev', 'ens7', 'address', first);
    await expectRefused(wanted, 'DuplicateMAC', /ens5 and ens7/);
  });

  test('a table in foreign use is refused as TableInUse', async () => {
    await prepare('table', 'route add 10.9.0.0/24 via 10.200.0.254 table 100');
    await expectRefused(wanted, 'TableInUse', /table 100/);
  });

  test('a priority in foreign use is refused as TableInUse', async () => {
    await prepare('priority', 'rule add from 10.9.0.1 table 200 priority 10100');
    await expectRefused(wanted, 'TableInUse', /rule 10100/);
  });

  test("[RW-41] a subnet overlapping the primary NIC's is refused", async () => {
    await prepare('overlap');
    await expectRefused(nic(0, first, '10.200.9.9/24'), 'SubnetOverlapsPrimary', /eth0/);
  });

  test('an invalid entry is refused as InvalidEntry', async () => {
    await prepare('entry');
    await expectRefused(
      nic(0, first, '10.0.0.11/16', { gateway: '10.9.0.1' }),
      'InvalidEntry',
      /gateway 10\.9\.0\.1/,
    );
  });

  test('[RW-30] a name held by a foreign link is refused as NICInUse', async () => {
    await prepare('name');
    await host.plug('multinic0', '02:00:00:00:09:01');
    await expectRefused(wanted, 'NICInUse', /02:00:00:00:09:01/);
  });

  test('a path with a foreign file is refused as PersistFailed', async () => {
    await prepare('path');
    await writeFile(join(host.root, 'etc/netplan/90-multinic0.yaml'), '# mine\n');
    await expectRefused(wanted, 'PersistFailed', /90-multinic0\.yaml/);
  });

  test.each([
    ['a directory', { state: 'Configured' }],
    // The link may lead to a file only the host can see.
    [
      'a link to nowhere',
      {
        reason: 'NICInUse',
        message: expect.stringMatching(/cannot be read: ENOENT; make it readable/) as string,
      },
    ],
  ])('a path with %s is refused as PersistFailed', async (what, beside) => {
    await prepare('place');
    const path = join(host.root, 'etc/netplan/90-multinic0.yaml');
    await (what === 'a directory' ? mkdir(path) : symlink('/nowhere', path));
    const { result } = await runAgent(host, request([wanted, good]));
    expect(result?.nics).toMatchObject([{ reason: 'PersistFailed' }, beside]);
    expect((await lstat(path)).isFile()).toBe(false);
  });

  test('a NIC configured by a foreign file is refused as NICInUse', async () => {
    await prepare('claim');
    const text = `network: {ethernets: {data: {match: {macaddress: "${first}"}, dhcp4: true}}}\n`;
    await writeFile(join(host.root, 'etc/netplan/50-cloud-init.yaml'), text);
    await expectRefused(wanted, 'NICInUse', /50-cloud-init\.yaml/);
  });
});

describe('requests refused as a whole', () => {
  test('an invalid request is refused, naming the field', async () => {
    await prepare('invalid');
    const { code, result } = await runAgent(host, '{"protocol": 99, "uid": "u", "generation": 3}');
    expect(code).toBe(1);
    expect(result).toMatchObject({
      uid: 'u',
      generation: 3,
      outcome: 'refused',
      refusal: {
        reason: 'InvalidRequest',
        message: expect.stringContaining('protocol:') as string,
      },
    });
  });

  test('an older generation and a replaced object are refused as StaleRequest', async () => {
    await prepare('stale');
    await runAgent(host, request([wanted], { generation: 5 }));
    const before = await stateOf(host);
    const older = await runAgent(host, request([], { generation: 4 }));
    expect(older.result?.refusal?.reason).toBe('StaleRequest');
    await runAgent(host, request([wanted], { uid: 'uid-2' }));
    const replaced = await runAgent(host, request([], { generation: 9, action: 'cleanup' }));
    expect(replaced.result?.refusal?.message).toContain('uid-1');
    expect(await stateOf(host)).toEqual(before);
  });

  test.each(['{"version": 3}', 'not json', '{"version": 1, "nics": 3}'])(
    'an unknown state.json is refused and left unchanged: %s',
    async (text) => {
      await prepare('unknown');
      await mkdir(join(host.root, 'var/lib/multinic'));
      await writeFile(join(host.root, 'var/lib/multinic/state.json'), text);
      const before = await stateOf(host);
      const { result, effects } = await runAgent(host, request([wanted]), { traced: true });
      expect(result?.refusal?.reason).toBe('UnknownState');
      expect(result?.refusal?.message).toContain('/var/lib/multinic/state.json');
      expect(effects).toEqual(['agent.result.write before 1', 'agent.result.write after 1']);
      expect(await stateOf(host)).toEqual(before);
    },
  );
});

describe('command line', () => {
  test('an unknown flag prints usage and exits with status 2', async () => {
    await prepare('usage');
    const { code, stderr } = await runAgent(host, request([wanted]), { flags: ['--nonsense'] });
    expect(code).toBe(2);
    expect(stderr).toContain('unknown option `--nonsense`');
    expect(stderr).toContain('usage: multinic agent');
  });
});
