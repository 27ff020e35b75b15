import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { foreignState, plantForeignState } from './foreign.ts';
import { stateOf } from './host-state.ts';
import { denyingIp, ipOnOldKernel } from './line-by-line-ip.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const a = nic(0, first, '10.0.0.11/16', { gateway });
const b = nic(1, second, '10.0.0.12/16', { gateway });

let host: NamespaceHost;
afterEach(() => host.down());

async function hostWithTwo(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: first, ens6: second } });
}

describe('rollback', () => {
  test.each([
    ['a route', '^route.replace.0.0.0.0/0.*table.100'],
    ['a rule', '^rule.add.from.10.0.0.11'],
    ['the name', '^link.set.dev.ens5.name'],
    ['the MTU', 'multinic0.mtu'],
  ])(
    '[RW-14] [RW-25] [RW-40] a new NIC is rolled back when the kernel refuses %s; the other NIC is configured',
    async (_, pattern) => {
      await hostWithTwo('refused');
      await runAgent(host, request([b]));
      const before = await stateOf(host);
      const path = await denyingIp(host, pattern);
      const { result } = await runAgent(host, request([a, b], { generation: 2 }), { path });
      expect(result).toMatchObject({
        outcome: 'partial',
        nics: [{ name: 'ens5', reason: 'ApplyFailed' }, { state: 'Configured' }],
      });
      expect(result?.nics[0]?.message).toMatch(/^Operation not permitted: /);
      expect(await stateOf(host)).toEqual(before);
      const retried = await runAgent(host, request([a, b], { generation: 2, attempt: 1 }));
      expect(retried.result?.outcome).toBe('ok');
    },
  );

  test('[RW-39] a NIC in use keeps its old address, routes and file when its update fails', async () => {
    await hostWithTwo('update');
    await plantForeignState(host);
    await runAgent(host, request([a, b]));
    const before = await stateOf(host);
    const file = join(host.root, 'etc/netplan/90-multinic0.yaml');
    const { ino, mtimeMs } = await stat(file);
    const path = await denyingIp(host, '^rule.del');
    const moved = nic(0, first, '10.0.0.21/16', { gateway, mtu: 9000 });
    const { result } = await runAgent(host, request([moved, b], { generation: 2 }), { path });
    // This `ip` also refuses deleting the new rule, and the result reports the failed rollback.
    expect(result?.nics[0]).toMatchObject({ name: 'multinic0', reason: 'RollbackFailed' });
    expect(await stat(file)).toMatchObject({ ino, mtimeMs });
    const later = await runAgent(host, request([a, b], { generation: 3 }));
    expect(later.result?.outcome).toBe('ok');
    expect(await stateOf(host)).toEqual(before);
  });

  test('[RW-07] a failed release leaves the NIC configured', async () => {
    await hostWithTwo('removal');
    await runAgent(host, request([a, b]));
    const before = await stateOf(host);
    const path = await denyingIp(host, '^addr.del');
    const { result } = await runAgent(host, request([b], { generation: 2 }), { path });
    expect(result).toMatchObject({
      outcome: 'partial',
      nics: [{}, { mac: first, name: 'multinic0', state: 'Failed', reason: 'ApplyFailed' }],
    });
    expect(await stateOf(host)).toEqual(before);
  });

  test('[RW-22] foreign state is unchanged by rollback, apply and release', async () => {
    await hostWithTwo('foreign');
    await plantForeignState(host);
    const ours = ['ens5', 'ens6', 'multinic0', 'multinic1', '10.0.0.1'];
    const before = await foreignState(host, ...ours);
    const path = await denyingIp(host, '^rule.add');
    const failed = await runAgent(host, request([a, b]), { path });
    expect(failed.result?.outcome).toBe('failed');
    expect(await foreignState(host, ...ours)).toEqual(before);
    expect((await runAgent(host, request([a, b]))).result?.outcome).toBe('ok');
    expect(await foreignState(host, ...ours)).toEqual(before);
    expect((await runAgent(host, request([], { generation: 2 }))).result?.outcome).toBe('ok');
    expect(await foreignState(host, ...ours)).toEqual(before);
  });
});

describe('kernel before 6.2', () => {
  test('[RW-16] a kernel before 6.2 renames an up NIC through down', async () => {
    await hostWithTwo('busy');
    await host.ip('link', 'set', 'dev', 'ens5', 'up');
    const path = await ipOnOldKernel(host);
    const { result } = await runAgent(host, request([a, b]), { path });
    expect(result?.outcome).toBe('ok');
    const state = await stateOf(host);
    const fresh = await createHost('modern', { nics: { ens5: first, ens6: second } });
    try {
      await runAgent(fresh, request([a, b]));
      expect(state).toEqual(await stateOf(fresh));
    } finally {
      await fresh.down();
    }
  });
});

async function fill(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory]);
  await run('dd', ['if=/dev/zero', `of=${join(directory, 'ballast')}`, 'bs=4k']);
}

describe('full disk', () => {
  test.each(['var/lib/multinic', 'etc/netplan'])(
    'a full disk at %s changes nothing, and needs no restart',
    async (at) => {
      await hostWithTwo('full');
      const directory = join(host.root, at);
      await fill(directory);
      try {
        const before = await stateOf(host);
        const { result } = await runAgent(host, request([a, b]));
        expect(result).toMatchObject({
          outcome: 'failed',
          nics: [{ name: 'ens5', reason: 'PersistFailed' }, { reason: 'PersistFailed' }],
        });
        expect(result?.nics[0]?.message).toContain('ENOSPC');
        expect(await stateOf(host)).toEqual(before);
        await rm(join(directory, 'ballast'));
        const later = await runAgent(host, request([a, b], { attempt: 1 }));
        expect(later.result?.outcome).toBe('ok');
        expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([]);
      } finally {
        await run('umount', [directory]);
      }
    },
  );
});

describe('read-only file system', () => {
  test.each(['var/lib/multinic', 'etc/netplan'])(
    '[RW-02] a read-only file system at %s changes nothing, and needs no restart',
    async (at) => {
      await hostWithTwo('readonly');
      await runAgent(host, request([a]));
      const directory = join(host.root, at);
      await run('mount', ['--bind', directory, directory]);
      try {
        await run('mount', ['-o', 'remount,bind,ro', directory]);
        const before = await stateOf(host);
        const { result } = await runAgent(host, request([a, b], { attempt: 1 }));
        expect(result?.nics).toMatchObject([
          { name: 'multinic0', reason: 'Configured' },
          { name: 'ens6', reason: 'PersistFailed' },
        ]);
        expect(result?.nics[1]?.message).toContain('EROFS');
        expect(await stateOf(host)).toEqual(before);
      } finally {
        await run('umount', [directory]);
      }
      const later = await runAgent(host, request([a, b], { attempt: 2 }));
      expect(later.result?.outcome).toBe('ok');
    },
  );
});
