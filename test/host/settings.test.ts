import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { answererOf } from './traffic.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const wanted = nic(0, first, '10.0.0.11/16');
const other = nic(1, second, '10.0.0.12/16');
const keys = ['rp_filter', 'arp_ignore', 'arp_announce'];
const sysctlFile = '/etc/sysctl.d/90-multinic0.conf';

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('settings', { nics: { ens5: first, ens6: second } });
  await mkdir(join(host.root, 'etc/sysctl.d'), { recursive: true });
});
afterEach(() => host.down());

async function settings(link: string): Promise<string[]> {
  const paths = keys.map((key) => `/proc/sys/net/ipv4/conf/${link}/${key}`);
  return (await host.exec('cat', ...paths)).stdout.trim().split('\n');
}

async function set(link: string, key: string, value: string): Promise<void> {
  await host.exec('sh', '-c', `echo ${value} >/proc/sys/net/ipv4/conf/${link}/${key}`);
}

async function configured(...entries: readonly RequestInterface[]) {
  const { result, effects } = await runAgent(host, request(entries), { traced: true });
  expect(result?.outcome).toBe('ok');
  return { warnings: result?.warnings, effects: effects.length };
}

const nothingButTheResult = 2;

describe('kernel settings on a NIC', () => {
  test('[RW-22] kernel settings are set, persisted across a boot, and restored on release', async () => {
    await set('ens5', 'rp_filter', '1');
    await configured(wanted);
    expect(await settings('multinic0')).toEqual(['2', '1', '2']);
    const lines = keys.map((key, at) => `net.ipv4.conf.multinic0.${key} = ${[2, 1, 2][at]}`);
    const text = [`# NIC ${first}`, ...lines, ''].join('\n');
    expect(await readFile(join(host.root, sysctlFile), 'utf8')).toBe(text);
    expect(await configured(wanted)).toEqual({ warnings: [], effects: nothingButTheResult });
    await configured();
    expect(await settings('ens5')).toEqual(['1', '0', '0']);
    expect(await readdir(join(host.root, 'etc/sysctl.d'))).toEqual(['backup']);
  });

  test('settings changed by users are reported, kept, and not restored on release', async () => {
    await configured(wanted);
    await set('multinic0', 'rp_filter', '0');
    expect(await configured(wanted)).toEqual({
      warnings: ['SettingsKept multinic0 ipv4.rp_filter=0'],
      effects: nothingButTheResult,
    });
    expect(await settings('multinic0')).toEqual(['0', '1', '2']);
    await set('multinic0', 'rp_filter', '1');
    await configured();
    expect(await settings('ens5')).toEqual(['1', '0', '0']);
  });

  test("settings changed to the node's defaults are kept, even if a default equals a managed value", async () => {
    await set('default', 'rp_filter', '2');
    await configured(wanted);
    await set('multinic0', 'arp_ignore', '0');
    await set('multinic0', 'arp_announce', '0');
    const warnings = ['SettingsKept multinic0 ipv4.arp_ignore=0 ipv4.arp_announce=0'];
    expect(await configured(wanted)).toEqual({ warnings, effects: nothingButTheResult });
    expect(await settings('multinic0')).toEqual(['2', '0', '0']);
  });

  test('settings are set again on a replugged NIC', async () => {
    await configured(wanted);
    await host.unplug(first);
    await host.plug('ens5', first);
    expect((await configured(wanted)).warnings).toEqual([]);
    expect(await settings('multinic0')).toEqual(['2', '1', '2']);
  });

  test("settings are set again on a NIC returning from a Pod's namespace", async () => {
    await configured(wanted);
    // In an empty namespace the link keeps its index.
    const go = `ip -n ${host.netns} link set dev multinic0 netns $$`;
    const back = `ip link set dev multinic0 netns ${host.netns}`;
    const moved = await host.exec('unshare', '--net', 'sh', '-c', `${go} && ${back}`);
    expect(moved.code, moved.stderr).toBe(0);
    expect(await settings('multinic0')).toEqual(['0', '0', '0']);
    expect((await configured(wanted)).warnings).toEqual([]);
    expect(await settings('multinic0')).toEqual(['2', '1', '2']);
  });

  test('two NICs in a subnet each answer only for their own addresses', async () => {
    await configured(wanted, other);
    for (const [ip, mac] of [
      ['10.0.0.11', first],
      ['10.0.0.12', second],
    ] as const) {
      expect(await answererOf(host, ip)).toBe(mac);
    }
  });

  test('settings are set on a host without persistent settings', async () => {
    await host.down();
    host = await createHost('settings', { nics: { ens5: first } });
    await configured(wanted);
    expect(await settings('multinic0')).toEqual(['2', '1', '2']);
    await expect(readFile(join(host.root, sysctlFile))).rejects.toThrow('ENOENT');
  });

  test('a foreign file at the settings path is left alone', async () => {
    await writeFile(join(host.root, sysctlFile), 'net.ipv4.ip_forward = 1\n');
    const { result } = await runAgent(host, request([wanted]));
    expect(result?.nics).toMatchObject([{ reason: 'PersistFailed' }]);
    expect(await readFile(join(host.root, sysctlFile), 'utf8')).toBe('net.ipv4.ip_forward = 1\n');
    expect(await settings('ens5')).toEqual(['0', '0', '0']);
  });
});
