import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';
import { denyingIp } from './line-by-line-ip.ts';

const [mac, other] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const first = nic(0, mac, '10.0.0.11/16', { gateway });
const second = nic(1, other, '10.1.0.12/16');
const file = 'etc/netplan/90-multinic0.yaml';

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('check', { nics: { ens5: mac, ens6: other } });
});
afterEach(() => host.down());

async function configure(): Promise<void> {
  const { result, stderr } = await runAgent(host, request([first, second]));
  expect(result?.outcome, stderr).toBe('ok');
}

/** Path, size, mode and modification time for every file the agent may write. */
async function disk(): Promise<readonly string[]> {
  const folders = ['etc/netplan', 'etc/sysctl.d', 'var/lib/multinic', 'var/lib/multinic/journal'];
  const lists = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(join(host.root, folder)).catch(() => []);
      return Promise.all(
        names.map(async (name) => {
          const { size, mtimeMs, mode } = await stat(join(host.root, folder, name));
          return `${folder}/${name} ${size} ${mtimeMs} ${mode}`;
        }),
      );
    }),
  );
  // Each run opens the lock, which stays empty.
  return lists.flat().filter((line) => !line.startsWith('var/lib/multinic/lock '));
}

/** Result of a check, which must leave host and disk unchanged. */
async function check(interfaces: RequestInterface[] = [first, second], generation = 1) {
  const before = [await stateOf(host), await disk()];
  const jobRequest = request(interfaces, { action: 'check', generation, protocol: 3 });
  const { result, stderr, effects } = await runAgent(host, jobRequest, { traced: true });
  expect([await stateOf(host), await disk()]).toEqual(before);
  expect(effects.filter((line) => !line.startsWith('agent.result.write'))).toEqual([]);
  if (!result) throw new Error(`no result: ${stderr}`);
  return result;
}

const drifted = (index: number, message: unknown) => ({ index, reason: 'Drifted', message });
const fine = (index: number) => ({ index, reason: 'Configured', message: '' });

describe('check action', () => {
  test('a check finds no drift on an unchanged host', async () => {
    await configure();
    expect(await check()).toMatchObject({ outcome: 'ok', nics: [fine(0), fine(1)] });
  });

  test('[RW-45] a check reports deleted configuration, and an apply restores it', async () => {
    await configure();
    await host.ip('rule', 'del', 'priority', '10100');
    await host.ip('addr', 'flush', 'dev', 'multinic1');
    await rm(join(host.root, file));
    const { outcome, nics } = await check();
    expect(outcome).toBe('failed');
    expect(nics).toMatchObject([
      drifted(0, expect.stringMatching(/rule add from 10\.0\.0\.11.*create \/etc\/netplan/)),
      drifted(1, expect.stringContaining('addr replace 10.1.0.12/16')),
    ]);
    const { result } = await runAgent(host, request([first, second], { attempt: 1 }));
    expect(result?.outcome).toBe('ok');
    expect(await check()).toMatchObject({ outcome: 'ok' });
  });

  test('a check reports drift only for the changed NIC', async () => {
    await configure();
    await host.ip('link', 'set', 'dev', 'multinic0', 'mtu', '1400');
    const { outcome, nics } = await check();
    expect(outcome).toBe('partial');
    expect(nics).toMatchObject([drifted(0, expect.stringContaining('mtu 1450')), fine(1)]);
  });

  test('a check reports a NIC to release and an absent NIC', async () => {
    await configure();
    await host.ip('link', 'del', 'multinic1');
    const { nics } = await check([second]);
    expect(nics).toMatchObject([
      drifted(0, expect.stringContaining('name ens5')),
      { index: 1, state: 'Pending', reason: 'WaitingForNIC' },
    ]);
  });

  test('a check reports an interrupted change and does not end it', async () => {
    await configure();
    const path = await denyingIp(host, '^(rule.del|addr.del)');
    const moved = { ...first, addresses: ['10.0.0.21/16'] };
    await runAgent(host, request([moved, second], { generation: 2 }), { path });
    const { nics } = await check([moved, second], 2);
    expect(nics).toMatchObject([drifted(0, expect.stringContaining('interrupted')), fine(1)]);
    expect((await check([second], 2)).nics).toMatchObject([
      drifted(0, expect.stringContaining('interrupted')),
      fine(1),
    ]);
  });

  test('a check reports an unrequested NIC with an interrupted change', async () => {
    const killed = await runAgent(host, request([first]), { killAt: 'agent.kernel.batch after 1' });
    expect(killed.code).toBe(137);
    const { nics } = await check([second]);
    expect(nics).toMatchObject([
      drifted(0, expect.stringContaining('interrupted')),
      drifted(1, expect.stringContaining('ip link set dev ens6')),
    ]);
  });

  test('a check for an older object generation is refused', async () => {
    await configure();
    expect(await check([first], 0)).toMatchObject({
      outcome: 'refused',
      refusal: { reason: 'StaleRequest' },
    });
  });

  test('a check on a fresh host reports the changes an apply would make', async () => {
    expect((await check([first])).nics).toMatchObject([
      drifted(0, expect.stringMatching(/ip link set dev ens5 .*multinic0/)),
    ]);
    await expect(stat(join(host.root, 'var/lib/multinic/lock'))).rejects.toThrow('ENOENT');
  });
});
