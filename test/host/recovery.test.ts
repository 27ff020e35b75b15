import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOfOurs } from './family-host.ts';
import { stateOf } from './host-state.ts';
import { denyingIp } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const gateway = '10.0.0.254';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway });
const moved = { ...wanted, addresses: ['10.0.0.21/16'] };

let host: NamespaceHost;
afterEach(() => host.down());

const journals = async () => readdir(join(host.root, 'var/lib/multinic/journal'));

/** Leaves a NIC whose change failed and whose rollback failed. */
async function failRollback(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: mac } });
  await runAgent(host, request([wanted]));
  const path = await denyingIp(host, '^(rule.del|addr.del)');
  const { result } = await runAgent(host, request([moved], { generation: 2 }), { path });
  expect(result?.nics[0]).toMatchObject({ reason: 'RollbackFailed' });
  expect(await journals()).toEqual(['0.json']);
}

describe('NIC with a failed rollback', () => {
  test('a NIC with a failed rollback is configured by the next run, from its current state', async () => {
    await failRollback('on');
    const path = await denyingIp(host, '^(addr.del|rule.del.from).10.0.0.21');
    const { result } = await runAgent(host, request([moved], { generation: 3 }), { path });
    expect(result?.outcome).toBe('ok');
    expect(JSON.stringify(await stateOf(host))).not.toContain('10.0.0.11');
    expect(await journals()).toEqual([]);
  });

  test('a NIC with a failed rollback can be released', async () => {
    await failRollback('off');
    const path = await denyingIp(host, 'addr.replace');
    const cleanup = request([], { generation: 3, action: 'cleanup' });
    const { result } = await runAgent(host, cleanup, { path });
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5', reason: 'Removed' }] });
    expect(JSON.stringify(await stateOf(host))).not.toContain('10.0.0.');
  });
});

describe('NIC with an interrupted change', () => {
  test('a failed backup is reported when an interrupted change is finished', async () => {
    host = await createHost('no-backup', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const jobRequest = request([moved], { generation: 2 });
    expect((await runAgent(host, jobRequest, { killAt: 'agent.file.commit after 1' })).code).toBe(
      137,
    );
    await writeFile(join(host.root, 'etc/netplan/backup'), '');
    const { result } = await runAgent(host, { ...jobRequest, attempt: 1 });
    expect(result).toMatchObject({
      outcome: 'ok',
      warnings: ['BackupFailed /etc/netplan/90-multinic0.yaml: backup is not a folder'],
    });
  });

  test('a NIC with an interrupted change is untouched once primary', async () => {
    host = await createHost('way-out', { nics: { ens5: mac } });
    const jobRequest = request([wanted]);
    const killed = await runAgent(host, jobRequest, { killAt: 'agent.kernel.batch after 1' });
    expect(killed.code).toBe(137);
    await host.ip('addr', 'add', '10.50.0.2/24', 'dev', 'multinic0');
    await host.ip('route', 'replace', 'default', 'via', '10.50.0.1', 'dev', 'multinic0');
    const routes = await host.ip('route', 'show', 'default');
    const { result } = await runAgent(host, request([wanted], { attempt: 1 }));
    expect(result?.nics[0]).toMatchObject({ name: 'multinic0', reason: 'PrimaryNIC' });
    expect(await host.ip('route', 'show', 'default')).toBe(routes);
    await host.ip('route', 'replace', 'default', 'via', primary.gateway);
    await host.ip('addr', 'del', '10.50.0.2/24', 'dev', 'multinic0');
    const later = await runAgent(host, request([wanted], { attempt: 2 }));
    expect(later.result?.outcome).toBe('ok');
  });

  test('an interrupted release ends if the NIC has a new user since', async () => {
    host = await createHost('given-away', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const jobRequest = request([], { generation: 2 });
    const killed = await runAgent(host, jobRequest, { killAt: 'agent.state.write before 1' });
    expect(killed.code).toBe(137);
    expect(await journals()).toEqual(['0.json']);
    await host.ip('addr', 'add', '10.50.0.2/24', 'dev', 'ens5');
    await host.ip('link', 'set', 'ens5', 'up');
    const { result } = await runAgent(host, { ...jobRequest, attempt: 1 });
    expect(result).toMatchObject({ outcome: 'ok', nics: [] });
    expect(await journals()).toEqual([]);
    expect(await host.ip('-br', '-4', 'addr', 'show', 'dev', 'ens5', 'up')).toContain('10.50.0.2');
  });
});

const second = '02:00:00:00:01:06';
const lease = 'valid_lft 3600 preferred_lft 3600';
const removed = 'agent.file.remove after 1';
const unrecorded = 'agent.state.write before 1';
const recorded = 'agent.journal.remove before 1';

describe('release killed after its commit', () => {
  test.each([
    { killAt: removed, boots: true, by: 'an administrator', lifetime: '' },
    { killAt: unrecorded, boots: true, by: 'DHCP', lifetime: lease },
    { killAt: recorded, boots: true, by: 'DHCP', lifetime: lease },
    { killAt: recorded, boots: false, by: 'DHCP', lifetime: lease },
    { killAt: recorded, boots: false, by: 'an administrator', lifetime: '' },
  ])(
    "a release killed at $killAt leaves the port's address $by set since (after a boot: $boots)",
    async ({ killAt, boots, lifetime }) => {
      host = await createHost('set-up-again', { nics: { ens5: mac, ens6: second } });
      await runAgent(host, request([wanted]));
      const killed = await runAgent(host, request([], { generation: 2 }), { killAt });
      expect(killed.code).toBe(137);
      if (boots) await boot();
      const lines = ['link set ens5 up', `addr add 10.0.0.11/16 dev ens5 ${lifetime}`.trim()];
      for (const line of lines) await host.ip(...line.split(' '));
      const before = await host.ip('-br', 'addr', 'show', 'dev', 'ens5', 'up');
      expect(before).toContain('10.0.0.11/16');
      const beside = nic(1, second, '10.1.0.12/16');
      const { result } = await runAgent(host, request([beside], { generation: 3 }));
      expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic1' }], warnings: [] });
      expect(await host.ip('-br', 'addr', 'show', 'dev', 'ens5', 'up')).toBe(before);
      expect(await journals()).toEqual([]);
      expect(Object.keys(await filesOfOurs(host)).join(' ')).not.toContain('multinic0');
    },
  );
});

/** Simulates a boot: the journal is from a former boot, and the release left the kernel as a boot does. */
async function boot(): Promise<void> {
  const path = join(host.root, 'var/lib/multinic/journal/0.json');
  const entry = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...entry, bootId: 'the one before' }));
}
