import { afterEach, describe, expect, test } from 'vitest';
import { ip } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { linkLocalOf } from '../../src/agent/planning/desired.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const gateway6 = 'fd00::fe';
const addresses = ['10.0.0.11/16', 'fd00::11/64'];
const dual = nic(0, first, '', { addresses, gateway, gateway6 });
const nothingButTheResult = 2;

let host: NamespaceHost;
afterEach(() => host.down());

async function hostWith(name: string, nics: Readonly<Record<string, string>> = { ens5: first }) {
  const fabricAddresses = [`${gateway}/16`, `${gateway6}/64`];
  host = await createHost(name, { nics, fabricAddresses });
}

async function run(...entries: readonly RequestInterface[]) {
  const { result, effects } = await runAgent(host, request(entries), { traced: true });
  const words = result?.nics.map(({ reason, message }) => `${reason} ${message}`.trim());
  return { words, effects: effects.length };
}

/** Returns the NIC's IPv6 state: addresses, routes made by the agent, and rules for its table. */
async function ipv6Of(name: string, table = 100) {
  const [shown] = (await host.ipJson('-6', 'addr', 'show', 'dev', name)) as Shown[];
  const routes = await host.ip('-6', 'route', 'show', 'dev', name, 'table', String(table));
  const rules = await host.ip('-6', 'rule', 'show');
  return {
    addresses: shown?.addr_info.map(({ local, prefixlen, tentative = false }) => {
      // The kernel manages the link-local address.
      const probed = tentative && !local.startsWith('fe80:');
      return `${local}/${prefixlen}${probed ? ' tentative' : ''}`;
    }),
    routes: routes.split('\n').flatMap((line) => line.replace(/ pref medium$/, '').trim() || []),
    rules: rules.split('\n').filter((line) => line.includes(`lookup ${table}`)),
  };
}

interface Shown {
  readonly addr_info: readonly {
    readonly local: string;
    readonly prefixlen: number;
    readonly tentative?: boolean;
  }[];
}

describe('dual-stack NIC', () => {
  test('a dual-stack NIC has addresses, routes and rules per family, and a link-local address', async () => {
    await hostWith('dual');
    expect((await run(dual)).words).toEqual(['Configured']);
    expect(await ipv6Of('multinic0')).toEqual({
      addresses: ['fd00::11/64', linkLocalOf(first)],
      routes: ['fd00::/64 proto static metric 100', 'default via fd00::fe proto static metric 100'],
      rules: ['10100:\tfrom fd00::11 lookup 100'],
    });
    expect(await host.ipJson('-4', 'addr', 'show', 'dev', 'multinic0')).toMatchObject([
      { addr_info: [{ local: '10.0.0.11' }] },
    ]);
    expect((await run(dual)).effects).toBe(nothingButTheResult);
  });

  test('a dual-stack NIC is unchanged if a manager makes the link-local address itself', async () => {
    await hostWith('own-mode');
    expect((await run(dual)).words).toEqual(['Configured']);
    await host.ip('link', 'set', 'dev', 'multinic0', 'addrgenmode', 'none');
    expect((await run(dual)).effects).toBe(nothingButTheResult);
    await host.ip('addr', 'del', linkLocalOf(first), 'dev', 'multinic0');
    expect((await run(dual)).words).toEqual(['Configured']);
    expect((await ipv6Of('multinic0')).addresses).toContain(linkLocalOf(first));
  });

  test('a released dual-stack NIC is restored exactly, after any sequence of families', async () => {
    await hostWith('dual-left');
    await host.exec('sh', '-c', 'echo 1 >/proc/sys/net/ipv6/conf/ens5/disable_ipv6');
    const before = await stateOf(host);
    const four = nic(0, first, '10.0.0.11/16');
    const six = nic(0, first, 'fd00::11/64', { gateway6 });
    for (const wanted of [four, dual, six, dual, four, six]) {
      expect((await run(wanted)).words).toEqual(['Configured']);
      expect((await run(wanted)).effects).toBe(nothingButTheResult);
    }
    expect((await run()).words).toEqual(['Removed']);
    expect(await stateOf(host)).toEqual(before);
    const setting = await host.exec('cat', '/proc/sys/net/ipv6/conf/ens5/disable_ipv6');
    expect(setting.stdout.trim()).toBe('1');
  });

  test('two dual-stack NICs in one subnet each use their own routes', async () => {
    await hostWith('dual-two', { ens5: first, ens6: second });
    const other = nic(1, second, '', { addresses: ['10.0.0.12/16', 'fd00::12/64'], gateway6 });
    expect((await run(dual, other)).words).toEqual(['Configured', 'Configured']);
    for (const [index, address] of ['fd00::11', 'fd00::12'].entries()) {
      const way = await host.ipJson('-6', 'route', 'get', 'fd09::9', 'from', address);
      expect(way).toMatchObject([{ dev: `multinic${index}`, gateway: gateway6 }]);
    }
    expect((await run(other)).words).toEqual(['Configured', 'Removed']);
    expect((await ipv6Of('multinic1', 101)).rules).toHaveLength(1);
    expect(await host.ip('-6', 'rule', 'show')).not.toContain('fd00::11');
  });

  test('a dual-stack NIC interrupted by a crash is rolled back once unrequested', async () => {
    await hostWith('dual-crash');
    const before = await stateOf(host);
    const killed = await runAgent(host, request([dual]), { killAt: 'agent.kernel.batch after 1' });
    expect(killed.result).toBeUndefined();
    expect((await ipv6Of('multinic0')).rules).toHaveLength(1);
    expect((await run()).words).toEqual([]);
    expect(await stateOf(host)).toEqual(before);
  });

  test('adding an IPv6 address keeps the link up and IPv4 traffic', async () => {
    await hostWith('dual-live');
    await run(nic(0, first, '10.0.0.11/16', { gateway }));
    const changes = async () => (await host.ipJson('link', 'show', 'multinic0')) as object[];
    const { stdout: down } = await host.exec('cat', '/sys/class/net/multinic0/carrier_down_count');
    expect((await run(dual)).words).toEqual(['Configured']);
    const { stdout: after } = await host.exec('cat', '/sys/class/net/multinic0/carrier_down_count');
    expect(after).toBe(down);
    expect(await changes()).toHaveLength(1);
    expect((await ipv6Of('multinic0')).addresses?.toSorted()).toEqual(
      ['fd00::11/64', linkLocalOf(first)].toSorted(),
    );
  });
});

describe('IPv6 addresses', () => {
  test('a duplicate IPv6 address is reported as AddressDuplicate and rolled back', async () => {
    await hostWith('duplicate');
    // With two concurrent probes the other host may give way.
    const probed = () => ip(['-n', host.fabric, '-6', 'addr', 'show', 'tentative']);
    await expect.poll(probed).toBe('');
    const before = await stateOf(host);
    const taken = nic(0, first, '', { addresses: ['10.0.0.11/16', `${gateway6}/64`] });
    const { words } = await run(taken);
    expect(words).toEqual([
      `AddressDuplicate another device in the subnet has ${gateway6}/64; rolled back`,
    ]);
    expect(await stateOf(host)).toEqual(before);
    expect((await run(dual)).words).toEqual(['Configured']);
  });

  test('an IPv6 address requires an MTU of at least 1280', async () => {
    await hostWith('narrow');
    const before = await stateOf(host);
    expect((await run({ ...dual, mtu: 1279 })).words).toEqual([
      'InvalidEntry mtu 1279: IPv6 needs at least 1280',
    ]);
    expect(await stateOf(host)).toEqual(before);
    expect((await run({ ...dual, mtu: 1280 })).words).toEqual(['Configured']);
    const four = nic(0, first, '10.0.0.11/16', { mtu: 1000 });
    expect((await run(four)).words).toEqual(['Configured']);
    expect((await run({ ...dual, mtu: 1500 })).words).toEqual(['Configured']);
    expect((await ipv6Of('multinic0')).rules).toHaveLength(1);
  });

  test("the node's own IPv6 subnet is refused", async () => {
    await hostWith('primary6');
    await host.ip('addr', 'add', 'fd00::2/64', 'dev', 'eth0', 'nodad');
    expect((await run(dual)).words).toEqual([
      'SubnetOverlapsPrimary fd00::/64 overlaps fd00::/64 of eth0',
    ]);
  });
});
