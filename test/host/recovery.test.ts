import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';
import { denyingIp } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const gateway = '10.0.0.254';
const wanted = nic(0, mac, '10.0.0.11/16', { gateway });
const moved = { ...wanted, addresses: ['10.0.0.21/16'] };

let host: NamespaceHost;
afterEach(() => host.down());

const journals = async () => readdir(join(host.root, 'var/lib/multinic/journal'));

/** A run that can neither bring the NIC on nor back. */
async function stuck(name: string): Promise<void> {
  host = await createHost(name, { nics: { ens5: mac } });
  await runAgent(host, request([wanted]));
  const path = await denyingIp(host, '^(rule.del|addr.del)');
  const { result } = await runAgent(host, request([moved], { generation: 2 }), { path });
  expect(result?.nics[0]).toMatchObject({ reason: 'RollbackFailed' });
  expect(await journals()).toEqual(['0.json']);
}

describe('a NIC that could not be brought back', () => {
  test('is brought on by the next run, from what is there', async () => {
    await stuck('on');
    const path = await denyingIp(host, '^(addr.del|rule.del.from).10.0.0.21');
    const { result } = await runAgent(host, request([moved], { generation: 3 }), { path });
    expect(result?.outcome).toBe('ok');
    expect(JSON.stringify(await stateOf(host))).not.toContain('10.0.0.11');
    expect(await journals()).toEqual([]);
  });

  test('can still be removed', async () => {
    await stuck('off');
    const path = await denyingIp(host, 'addr.replace');
    const cleanup = request([], { generation: 3, action: 'cleanup' });
    const { result } = await runAgent(host, cleanup, { path });
    expect(result).toMatchObject({ outcome: 'ok', nics: [{ name: 'ens5', reason: 'Removed' }] });
    expect(JSON.stringify(await stateOf(host))).not.toContain('10.0.0.');
  });
});

describe('a NIC that an interrupted run left in hand', () => {
  test('has a file whose backup cannot be made: that is told when the change is finished', async () => {
    host = await createHost('no-backup', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const asked = request([moved], { generation: 2 });
    expect((await runAgent(host, asked, { killAt: 'agent.file.commit after 1' })).code).toBe(137);
    await writeFile(join(host.root, 'etc/netplan/backup'), '');
    const { result } = await runAgent(host, { ...asked, attempt: 1 });
    expect(result).toMatchObject({
      outcome: 'ok',
      warnings: ['BackupFailed /etc/netplan/90-multinic0.yaml: backup is no folder'],
    });
  });

  test('is not touched once it has become the way out of the node', async () => {
    host = await createHost('way-out', { nics: { ens5: mac } });
    const asked = request([wanted]);
    const killed = await runAgent(host, asked, { killAt: 'agent.kernel.batch after 1' });
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

  test('is over when it was given away and is in use by others since', async () => {
    host = await createHost('given-away', { nics: { ens5: mac } });
    await runAgent(host, request([wanted]));
    const asked = request([], { generation: 2 });
    const killed = await runAgent(host, asked, { killAt: 'agent.state.write before 1' });
    expect(killed.code).toBe(137);
    expect(await journals()).toEqual(['0.json']);
    await host.ip('addr', 'add', '10.50.0.2/24', 'dev', 'ens5');
    await host.ip('link', 'set', 'ens5', 'up');
    const { result } = await runAgent(host, { ...asked, attempt: 1 });
    expect(result).toMatchObject({ outcome: 'ok', nics: [] });
    expect(await journals()).toEqual([]);
    expect(await host.ip('-br', '-4', 'addr', 'show', 'dev', 'ens5', 'up')).toContain('10.50.0.2');
  });
});
