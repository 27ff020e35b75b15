import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf, without } from './host-state.ts';
import { answerOf } from './traffic.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';

let host: NamespaceHost;
afterEach(() => host.down());

async function hostWithTwo(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
}

const two = [
  nic(0, first, '10.0.0.11/16', { gateway, routes: [{ to: '10.77.0.0/24', via: '10.0.0.253' }] }),
  nic(1, second, '10.0.0.12/16', { gateway }),
];

describe('attach', () => {
  test('[RW-26] [RW-45] a NIC gets name, MTU, address, routes, rule and a root-only file', async () => {
    await hostWithTwo('attach');
    const { code, result } = await runAgent(host, request(two.slice(0, 1)));
    expect(result).toMatchObject({
      outcome: 'ok',
      nics: [
        { index: 0, mac: first, name: 'multinic0', state: 'Configured', reason: 'Configured' },
      ],
    });
    expect(code).toBe(0);
    expect(await host.ipJson('addr', 'show', 'dev', 'multinic0')).toMatchObject([
      { mtu: 1450, addr_info: [{ local: '10.0.0.11', prefixlen: 16, broadcast: '10.0.255.255' }] },
    ]);
    expect(await host.ip('route', 'show', 'table', '100')).toBe(
      [
        'default via 10.0.0.254 dev multinic0 proto static metric 100 ',
        '10.0.0.0/16 dev multinic0 proto static scope link src 10.0.0.11 metric 100 ',
        '10.77.0.0/24 via 10.0.0.253 dev multinic0 proto static metric 100 ',
        '',
      ].join('\n'),
    );
    expect(await host.ip('-d', 'rule', 'show', 'priority', '10100')).toContain(
      'from 10.0.0.11 lookup 100 proto kernel',
    );
    const file = join(host.root, 'etc/netplan/90-multinic0.yaml');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(`macaddress: "${first}"`);
  });

  test('two NICs in one subnet each reply from their own address by their own NIC', async () => {
    await hostWithTwo('subnet');
    expect((await runAgent(host, request(two))).result?.outcome).toBe('ok');
    for (const [index, address] of ['10.0.0.11', '10.0.0.12'].entries()) {
      const way = await host.ipJson('route', 'get', '192.0.2.9', 'from', address);
      expect(way).toMatchObject([{ dev: `multinic${index}`, gateway }]);
      expect(await answerOf(host, gateway, address)).toBe('hello');
    }
  });

  test('[RW-33] a second run changes nothing and writes only its result', async () => {
    await hostWithTwo('twice');
    await runAgent(host, request(two));
    const before = await stateOf(host);
    const again = await runAgent(host, request(two), { traced: true });
    expect(again.effects).toEqual(['agent.result.write before 1', 'agent.result.write after 1']);
    expect(await stateOf(host)).toEqual(before);
  });

  test('an absent NIC waits, and is configured once present', async () => {
    host = await createHost('wait', { nics: { ens5: first } });
    const waiting = await runAgent(host, request(two));
    expect(waiting.result).toMatchObject({
      outcome: 'partial',
      nics: [{ state: 'Configured' }, { name: '', state: 'Pending', reason: 'WaitingForNIC' }],
    });
    expect(waiting.code).toBe(1);
    await host.plug('ens7', second);
    const { result } = await runAgent(host, request(two, { attempt: 1 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{}, { name: 'multinic1' }] });
  });

  test('[RW-44] a new address replaces the old address, without leftovers', async () => {
    await hostWithTwo('readdress');
    await runAgent(host, request(two));
    const moved = [
      nic(0, first, '10.0.0.21/16', { gateway, mtu: 9000 }),
      two[1] ?? nic(1, second, ''),
    ];
    const { result } = await runAgent(host, request(moved, { generation: 2 }));
    expect(result?.outcome).toBe('ok');
    const state = await stateOf(host);
    expect(JSON.stringify(state)).not.toContain('10.0.0.11');
    expect(JSON.stringify(state)).not.toContain('10.77.0.0');
    const fresh = await createHost('fresh', { nics: { ens5: first, ens6: second } });
    try {
      await runAgent(fresh, request(moved));
      expect(state).toEqual(await stateOf(fresh));
    } finally {
      await fresh.down();
    }
  });

  test('several addresses in a subnet are replaced by other addresses', async () => {
    await hostWithTwo('several');
    const old = nic(0, first, '', { addresses: ['10.0.0.11/16', '10.0.0.12/16'], gateway });
    const moved = { ...old, addresses: ['10.0.0.21/16', '10.0.0.22/16', '10.0.0.12/16'] };
    await runAgent(host, request([old]));
    expect((await runAgent(host, request([moved], { generation: 2 }))).result?.outcome).toBe('ok');
    const addresses = await host.ip('-4', '-o', 'addr', 'show', 'dev', 'multinic0');
    expect([...addresses.matchAll(/inet (\S+)/g)].map(([, cidr = '']) => cidr).toSorted()).toEqual(
      moved.addresses.toSorted(),
    );
    const repeated = request([moved], { generation: 2, attempt: 1 });
    const again = await runAgent(host, repeated, { traced: true });
    expect(again.effects).toHaveLength(2);
  });

  test('[RW-83] a request with new numbers for managed NICs renames none', async () => {
    await hostWithTwo('sticky');
    await runAgent(host, request([nic(0, second, '10.0.0.12/16')]));
    const before = without(await stateOf(host), 'ens5');
    const { result } = await runAgent(
      host,
      request([nic(0, first, '10.1.0.11/16'), nic(1, second, '10.0.0.12/16')], { generation: 2 }),
    );
    expect(result).toMatchObject({
      outcome: 'ok',
      nics: [
        { index: 0, mac: first, name: 'multinic1' },
        { index: 1, mac: second, name: 'multinic0' },
      ],
      warnings: ['NameKept multinic1, not multinic0', 'NameKept multinic0, not multinic1'],
    });
    expect(without(await stateOf(host), 'multinic1', '10.1.', '10101')).toEqual(
      without(before, 'multinic1', '10.1.'),
    );
  });

  test('a dry run prints the plan and changes nothing', async () => {
    await hostWithTwo('dry');
    const before = await stateOf(host);
    const { code, stdout, effects } = await runAgent(host, request(two), {
      flags: ['--dry-run'],
      traced: true,
    });
    expect(code).toBe(0);
    expect(effects).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject({
      removal: { units: [], refused: [] },
      apply: { units: [{ index: 0 }, { index: 1 }], refused: [] },
    });
    expect(await stateOf(host)).toEqual(before);
  });

  test('a connected route deleted by foreign software is restored, whatever happened to the address', async () => {
    await hostWithTwo('connected');
    await runAgent(host, request(two));
    const before = await stateOf(host);
    await host.ip('addr', 'del', '10.0.0.11/16', 'dev', 'multinic0');
    const readded = ['addr', 'add', '10.0.0.11/16', 'broadcast', '+', 'noprefixroute'];
    await host.ip(...readded, 'dev', 'multinic0');
    await host.ip('route', 'del', '10.0.0.0/16', 'dev', 'multinic1', 'table', 'main');
    const { result } = await runAgent(host, request(two, { attempt: 1 }));
    expect(result?.outcome).toBe('ok');
    expect(await stateOf(host)).toEqual(before);
  });

  test('an address with a lifetime becomes permanent', async () => {
    await hostWithTwo('lifetime');
    await runAgent(host, request(two));
    const before = await stateOf(host);
    const soon = ['valid_lft', '600', 'preferred_lft', '600'];
    await host.ip('addr', 'change', '10.0.0.11/16', 'dev', 'multinic0', 'broadcast', '+', ...soon);
    const { result } = await runAgent(host, request(two, { attempt: 1 }));
    expect(result?.outcome).toBe('ok');
    expect(await host.ip('addr', 'show', 'dev', 'multinic0')).not.toContain('dynamic');
    expect(await stateOf(host)).toEqual(before);
  });

  test('router advertisements and link-local addresses are off before the NIC is up', async () => {
    await hostWithTwo('radv');
    await host.ip('link', 'set', 'dev', 'ens5', 'up');
    await runAgent(host, request(two));
    const setting = await host.exec('cat', '/proc/sys/net/ipv6/conf/multinic0/accept_ra');
    expect(setting.stdout.trim()).toBe('0');
    expect(await host.ip('-6', 'addr', 'show', 'dev', 'multinic0')).toBe('');
  });
});
