import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, primary } from '../../rig/hosts/namespace/host.ts';
import { answerOf } from './traffic.ts';

const script = join(import.meta.dirname, '../../rig/hosts/namespace/host');

async function namespaces(): Promise<string> {
  return (await run('ip', ['netns', 'list'])).stdout;
}

describe('namespace host', () => {
  test('a namespace host has a primary NIC reaching its gateway, and the given NICs in state down', async () => {
    await using host = await createHost('primary', { nics: { ens5: '02:00:00:00:01:05' } });
    expect(await answerOf(host, primary.gateway)).toBe('hello');
    expect(await host.ipJson('link', 'show', 'ens5')).toMatchObject([
      { address: '02:00:00:00:01:05', flags: ['BROADCAST', 'MULTICAST'] },
    ]);
    expect(existsSync(join(host.root, 'etc/netplan/10-primary.yaml'))).toBe(true);
  });

  test('a namespace host shows each process the network settings of its own namespace', async () => {
    await using host = await createHost('settings');
    const setting = join(host.root, 'proc/sys/net/ipv4/conf');
    expect((await host.exec('ls', setting)).stdout).toContain('eth0');
    expect((await run('ls', [setting])).stdout).not.toContain(host.netns);
    expect((await host.exec('ls', '/proc/sys/net/ipv4/conf')).stdout.split('\n')).toHaveLength(5);
  });

  test('unplug removes a NIC by MAC, whatever the name', async () => {
    await using host = await createHost('unplug');
    await host.plug('ens5', '02:00:00:00:01:05');
    await host.ip('link', 'set', 'dev', 'ens5', 'name', 'multinic0');
    await host.unplug('02:00:00:00:01:05');
    expect(await host.ip('-o', 'link', 'show')).not.toContain('multinic0');
  });

  test('down removes the whole namespace host, and may be called twice', async () => {
    const host = await createHost('gone', { nics: { ens5: '02:00:00:00:01:05' } });
    expect(await namespaces()).toContain(host.netns);
    await host.down();
    await host.down();
    expect(await namespaces()).not.toContain(host.name);
    expect(existsSync(host.root)).toBe(false);
    expect(existsSync('/proc/sys/net/ipv4')).toBe(true);
  });

  test('a namespace host can be managed from the command line', async () => {
    const name = `cli-${process.pid}`;
    try {
      const up = await run(script, ['up', name, 'ens5=02:00:00:00:01:05']);
      expect(up).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`multinic-host-${name}`) as string,
      });
      expect((await run(script, ['status'])).stdout).toContain(name);
    } finally {
      expect((await run(script, ['down', name])).code).toBe(0);
    }
    expect((await run(script, ['status'])).stdout).not.toContain(name);
  });

  test.each([
    [['--help'], 0],
    [['dance'], 2],
    [['up'], 2],
  ])('the host script prints its usage for %j', async (args, code) => {
    const output = await run(script, args);
    expect(output.code).toBe(code);
    expect(output.stdout + output.stderr).toContain('host up NAME');
  });

  test('the host script refuses to run without root', async () => {
    // Only this capability lets an unprivileged user read a checkout below /root.
    const reading = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
    const unprivileged = ['--reuid=65534', '--clear-groups', ...reading];
    const output = await run('setpriv', [...unprivileged, script, 'status']);
    expect(output).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('needs root') as string,
    });
  });
});
