import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOf, stateOf, without } from './host-state.ts';
import { answerOf } from './traffic.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const a = nic(0, first, '10.0.0.11/16', { gateway });
const b = nic(1, second, '10.0.0.12/16', { gateway });

let host: NamespaceHost;
afterEach(() => host.down());

async function configured(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
  const { result } = await runAgent(host, request([a, b]));
  expect(result?.outcome).toBe('ok');
}

const ours = ['10.0.0.11', 'multinic0', '90-multinic0', 'ens5'];

describe('detach', () => {
  test('a plugged NIC loses all managed configuration and gets its name back', async () => {
    await configured('plugged');
    const before = without(await stateOf(host), ...ours);
    const { code, result } = await runAgent(host, request([b], { generation: 2 }));
    expect(result).toMatchObject({
      outcome: 'ok',
      nics: [
        { mac: second, name: 'multinic1', state: 'Configured' },
        { index: 0, mac: first, name: 'ens5', state: 'Removed', reason: 'Removed' },
      ],
    });
    expect(code).toBe(0);
    const state = await stateOf(host);
    expect(JSON.stringify(state)).not.toContain('10.0.0.11');
    expect(state.files).not.toHaveProperty('90-multinic0.yaml');
    expect(await host.ipJson('-d', 'link', 'show', 'ens5')).toMatchObject([
      { flags: ['BROADCAST', 'MULTICAST'], inet6_addr_gen_mode: 'eui64' },
    ]);
    expect(without(state, ...ours)).toEqual(before);
  });

  test('[RW-22] an already unplugged NIC is released without error or leftovers', async () => {
    await configured('gone');
    await host.unplug(first);
    const { result } = await runAgent(host, request([b], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{}, { mac: first, state: 'Removed' }] });
    const state = JSON.stringify(await stateOf(host));
    expect(state).not.toContain('10.0.0.11');
    expect(state).not.toContain('multinic0');
    expect(state).toContain('multinic1');
  });

  test('[RW-84] a remaining NIC keeps its name and traffic', async () => {
    await configured('stays');
    await runAgent(host, request([b], { generation: 2 }));
    expect(await answerOf(host, gateway, '10.0.0.12')).toBe('hello');
    expect(await host.ipJson('route', 'get', '192.0.2.9', 'from', '10.0.0.12')).toMatchObject([
      { dev: 'multinic1', gateway },
    ]);
  });

  test('[RW-21] an unplugged but requested NIC keeps its file and rules', async () => {
    await configured('unplugged');
    const before = await stateOf(host);
    await host.unplug(first);
    const { result } = await runAgent(host, request([a, b], { attempt: 1 }));
    expect(result).toMatchObject({ outcome: 'partial', nics: [{ reason: 'WaitingForNIC' }, {}] });
    const after = await stateOf(host);
    expect(after.files).toEqual(before.files);
    expect(after.rules).toEqual(before.rules);
    await host.plug('ens9', first);
    await runAgent(host, request([a, b], { attempt: 2 }));
    expect(await stateOf(host)).toEqual(before);
  });

  test('a released NIC does not take back a name used by another NIC', async () => {
    await configured('taken');
    await host.plug('ens5', '02:00:00:00:01:99');
    const { result } = await runAgent(host, request([b], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{}, { state: 'Removed' }] });
    const removed = result?.nics[1]?.name ?? '';
    expect(removed).toMatch(/^mnfree\d+$/);
    expect(await host.ip('link', 'show', 'dev', removed)).toContain(first);
    expect(await host.ip('link', 'show', 'dev', 'ens5')).toContain('02:00:00:00:01:99');
  });

  test("a clean-up restores the host's state from before the first NIC", async () => {
    host = await createHost('cleanup', { nics: { ens5: first, ens6: second } });
    const before = await stateOf(host);
    const attached = await runAgent(
      host,
      request([a, b].map((entry) => ({ ...entry, mtu: 1500 }))),
    );
    expect(attached.stderr).toContain('"interfaces":[],"msg":"DetectActiveInterfaces"');
    expect(attached.stderr).not.toContain('orphaned');
    const cleanup = request([], { generation: 2, action: 'cleanup' });
    const { result, stderr } = await runAgent(host, cleanup);
    expect(stderr).toContain(
      '"interfaces":["multinic0","multinic1"],"msg":"DetectActiveInterfaces"',
    );
    expect(stderr).toMatch(/"orphaned":\[.*90-multinic0\.yaml.*"msg":"CleanupOrphanedConfigs"/);
    expect(result).toMatchObject({
      outcome: 'ok',
      nics: [{ state: 'Removed' }, { state: 'Removed' }],
    });
    expect(await stateOf(host)).toEqual(before);
    const again = await runAgent(host, request([], { generation: 2, action: 'cleanup' }));
    expect(again.result).toMatchObject({ outcome: 'ok', nics: [] });
  });

  test('a released NIC gets back its original MTU, state and settings', async () => {
    host = await createHost('original', { nics: { ens5: first } });
    const commands = ['mtu 1400', 'addrgenmode random', 'up'];
    for (const words of commands) await host.ip('link', 'set', 'dev', 'ens5', ...words.split(' '));
    const setting = '/proc/sys/net/ipv6/conf/ens5/accept_ra';
    await host.exec('sh', '-c', `echo 2 >${setting}`);
    await runAgent(host, request([a]));
    const { result } = await runAgent(host, request([], { generation: 2 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5' }] });
    const links = (await host.ipJson('-d', 'link', 'show', 'ens5')) as { flags: string[] }[];
    expect(links).toMatchObject([{ mtu: 1400, inet6_addr_gen_mode: 'random' }]);
    expect(links[0]?.flags).toContain('UP');
    expect((await host.exec('cat', setting)).stdout.trim()).toBe('2');
  });

  test('an index freed by a release is reused in the same run', async () => {
    host = await createHost('swap', { nics: { ens5: first, ens6: second } });
    await runAgent(host, request([a]));
    const next = nic(0, second, '10.0.0.12/16', { gateway });
    const { result } = await runAgent(host, request([next], { generation: 2 }));
    expect(result).toMatchObject({
      outcome: 'ok',
      nics: [
        { mac: second, name: 'multinic0', state: 'Configured' },
        { mac: first, name: 'ens5', state: 'Removed' },
      ],
    });
    expect(Object.keys(await filesOf(host))).toEqual(['10-primary.yaml', '90-multinic0.yaml']);
  });

  test.each([
    ['at once', []],
    ['after a power cut', ['agent.file.remove after 1']],
  ])(
    'a NIC held by networkd is released %s, and released again when replugged',
    async (_, cuts) => {
      await configured('told');
      const folder = join(host.root, 'run/systemd/network');
      await mkdir(folder, { recursive: true });
      const networkFile = `[Match]\nMACAddress=${first}\nName=multinic0\n[Network]\nAddress=10.0.0.11/16\n`;
      await writeFile(join(folder, '10-netplan-00-multinic0.network'), networkFile);
      await host.unplug(first);
      const jobRequest = request([b], { generation: 2 });
      for (const killAt of cuts)
        expect((await runAgent(host, jobRequest, { killAt })).code).toBe(137);
      expect((await runAgent(host, { ...jobRequest, attempt: 1 })).result?.outcome).toBe('ok');
      await host.plug('multinic0', first);
      await host.ip('addr', 'add', '10.0.0.11/16', 'dev', 'multinic0');
      const { result } = await runAgent(host, { ...jobRequest, attempt: 2 });
      expect(result?.nics).toMatchObject([{}, { mac: first, name: 'ens5', reason: 'Removed' }]);
      expect(JSON.stringify(await stateOf(host))).not.toContain('10.0.0.11');
    },
  );

  test('two NICs with the same index, replugged and unplugged, are released in one run', async () => {
    host = await createHost('one-number', { nics: { ens5: first, ens6: second } });
    await runAgent(host, request([a]));
    const folder = join(host.root, 'run/systemd/network');
    await mkdir(folder, { recursive: true });
    const networkFile = `[Match]\nMACAddress=${first}\nName=multinic0\n[Network]\nAddress=10.0.0.11/16\n`;
    await writeFile(join(folder, '10-netplan-00-multinic0.network'), networkFile);
    await host.unplug(first);
    const next = nic(0, second, '10.0.0.12/16', { gateway });
    expect((await runAgent(host, request([next], { generation: 2 }))).result?.outcome).toBe('ok');
    await host.unplug(second);
    await host.plug('multinic0', first);
    await host.ip('addr', 'add', '10.0.0.11/16', 'dev', 'multinic0');
    const { result } = await runAgent(host, request([], { generation: 3 }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ index: 0 }, { index: 0 }] });
    expect(await filesOf(host)).not.toHaveProperty('90-multinic0.yaml');
    expect(await readdir(join(host.root, 'var/lib/multinic/journal'))).toEqual([]);
  });

  test('[RW-39] no journal is left after a release', async () => {
    await configured('journal');
    await runAgent(host, request([b], { generation: 2 }));
    expect(await readdir(join(host.root, 'var/lib/multinic/journal'))).toEqual([]);
  });
});
