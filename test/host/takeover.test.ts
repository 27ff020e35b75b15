import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { eventually } from './eventually.ts';
import { filesOf, stateOf } from './host-state.ts';
import { denyingIp } from './line-by-line-ip.ts';
import { answerOf } from './traffic.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const wanted = nic(0, first, '10.0.0.11/16', { gateway });

let host: NamespaceHost;
afterEach(() => host.down());

/** Leftovers by the legacy agent after an address change: two addresses, two rules, two files. */
async function legacyHost(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
  const commands = [
    'link set dev ens5 name multinic0',
    'link set dev multinic0 mtu 1450 up',
    'addr add 10.0.0.7/16 dev multinic0 noprefixroute',
    'addr add 10.0.0.11/16 dev multinic0 noprefixroute',
    'rule add from 10.0.0.7/32 table 100',
    'rule add from 10.0.0.11/32 table 100',
    'route replace 10.0.0.0/16 dev multinic0 table 100 metric 100 src 10.0.0.11',
    'rule add from 10.9.0.0/16 table 200 priority 111',
  ];
  for (const command of commands) await host.ip(...command.split(' '));
  const text = `network:
    ethernets:
        multinic0:
            addresses:
                - 10.0.0.11/16
            dhcp4: false
            match:
                macaddress: ${first}
            mtu: 1450
            routing-policy:
                - from: 10.0.0.11/16
                  table: 100
            set-name: multinic0
    version: 2
`;
  for (const [index, mode] of [
    [0, 0o600],
    [4, 0o644],
  ] as const) {
    const path = join(host.root, `etc/netplan/9${index}-multinic${index}.yaml`);
    await writeFile(path, text.replaceAll('multinic0', `multinic${index}`));
    await chmod(path, mode);
  }
  // Simulates an older host: the kernel adds a route after probing the link's own address.
  await eventually(async () => {
    const shown = await host.ip('addr', 'show', 'dev', 'multinic0');
    expect(shown).toContain('fe80::');
    expect(shown).not.toContain('tentative');
  });
}

async function expectLikeFresh(): Promise<void> {
  const fresh = await createHost('fresh', { nics: { ens5: first, ens6: second } });
  try {
    await fresh.ip('rule', 'add', 'from', '10.9.0.0/16', 'table', '200', 'priority', '111');
    expect((await runAgent(fresh, request([wanted]))).result?.outcome).toBe('ok');
    expect(await stateOf(host)).toEqual(await stateOf(fresh));
  } finally {
    await fresh.down();
  }
}

describe('host with a legacy agent', () => {
  test('[RW-29] legacy state is migrated without duplicates, and foreign rules stay', async () => {
    await legacyHost('takeover');
    expect((await runAgent(host, request([wanted]))).result?.outcome).toBe('ok');
    await expectLikeFresh();
  });

  test('migration keeps the NIC up and its traffic running', async () => {
    await legacyHost('live');
    const { result, stderr } = await runAgent(host, request([wanted]));
    expect(result?.outcome).toBe('ok');
    expect(stderr).not.toContain('link set dev multinic0 down');
    expect(await answerOf(host, gateway, '10.0.0.11')).toBe('hello');
  });

  test.each(['^rule.add', '^route.replace.0', '^addr.del'])(
    'a refused %s rolls the migration back, including old files',
    async (pattern) => {
      await legacyHost('failing');
      const before = await stateOf(host);
      const path = await denyingIp(host, pattern);
      const { result } = await runAgent(host, request([wanted]), { path });
      expect(result?.nics).toMatchObject([{ name: 'multinic0', reason: 'ApplyFailed' }]);
      expect(await stateOf(host)).toEqual(before);
    },
  );

  test('[RW-30] a clean-up naming the NICs removes all legacy state', async () => {
    await legacyHost('cleanup');
    const { result } = await runAgent(host, request([wanted], { action: 'cleanup' }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ mac: first, state: 'Removed' }] });
    const state = JSON.stringify(await stateOf(host));
    expect(state).not.toMatch(/multinic0|10\.0\.0\.(7|11)"/);
    expect(Object.keys(await filesOf(host))).toEqual(['10-primary.yaml']);
    expect(await host.ip('rule', 'show', 'priority', '111')).toContain('10.9.0.0/16');
  });
});

describe('host with a lost state.json', () => {
  test('managed NICs are recognised by their files, and nothing changes', async () => {
    host = await createHost('lost', { nics: { ens5: first, ens6: second } });
    const entries = [wanted, nic(1, second, '10.0.0.12/16', { gateway })];
    await runAgent(host, request(entries));
    const before = await stateOf(host);
    const { code } = await host.exec('rm', join(host.root, 'var/lib/multinic/state.json'));
    expect(code).toBe(0);
    const { result, effects } = await runAgent(host, request(entries), { traced: true });
    expect(result?.outcome).toBe('ok');
    expect(
      effects.filter((effect) => effect.includes('kernel') || effect.includes('file')),
    ).toEqual([]);
    expect(await stateOf(host)).toEqual(before);
  });
});
