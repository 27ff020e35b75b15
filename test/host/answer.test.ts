import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { stateOf } from './host-state.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/16', { portId: 'port-1' });

const requestWith = (more: Partial<JobRequest>) => request([wanted], { protocol: 2, ...more });

let host: NamespaceHost;
afterEach(() => host.down());

describe('host without a supported network manager', () => {
  test('[RW-05] [RW-82] a host without netplan is reported as WrongFamily and left unchanged', async () => {
    host = await createHost('family', { nics: { ens5: mac } });
    await rm(join(host.root, 'usr/lib/netplan'), { recursive: true });
    const before = await stateOf(host);
    const { result } = await runAgent(host, request([wanted]));
    expect(result?.nics).toMatchObject([
      { mac, reason: 'WrongFamily', message: expect.stringContaining('no netplan') as string },
    ]);
    expect(result).not.toHaveProperty('family');
    expect(await stateOf(host)).toEqual(before);
  });

  test('a clean-up succeeds on a host without netplan and without managed NICs', async () => {
    host = await createHost('clean', {});
    await rm(join(host.root, 'usr/lib/netplan'), { recursive: true });
    const { result } = await runAgent(host, request([wanted], { action: 'cleanup' }));
    expect(result).toMatchObject({ outcome: 'ok', nics: [] });
  });
});

describe('Job made for another network manager', () => {
  test("[RW-05] a Job for another network manager reports the host's and changes nothing", async () => {
    host = await createHost('other', { nics: { ens5: mac } });
    const before = await stateOf(host);
    const { result } = await runAgent(host, requestWith({ family: 'keyfile' }));
    const message = 'host uses netplan (netplan is installed), but the Job is for keyfile';
    expect(result).toMatchObject({
      outcome: 'failed',
      family: 'netplan',
      nics: [{ mac, reason: 'WrongFamily', message }],
    });
    expect(await stateOf(host)).toEqual(before);
  });

  test('a clean-up for another network manager fails with managed NICs, and succeeds without', async () => {
    host = await createHost('leave', { nics: { ens5: mac } });
    const clean = requestWith({ action: 'cleanup', family: 'keyfile' });
    const nothing = await runAgent(host, clean);
    expect(nothing.result).toMatchObject({ outcome: 'ok', family: 'netplan', nics: [] });
    const right = await runAgent(host, requestWith({ family: 'netplan' }));
    expect(right.result).toMatchObject({ outcome: 'ok', family: 'netplan' });
    const before = await stateOf(host);
    const { result } = await runAgent(host, { ...clean, generation: 2 });
    expect(result).toMatchObject({ outcome: 'failed', family: 'netplan' });
    expect(await stateOf(host)).toEqual(before);
  });
});

describe('protocol 2 requests', () => {
  test('a request for another machine is refused', async () => {
    host = await createHost('machine', { nics: { ens5: mac } });
    await writeFile(join(host.root, 'etc/machine-id'), 'machine-b\n');
    const before = await stateOf(host);
    const matching = requestWith({ machineId: 'machine-a' });
    const { result, effects } = await runAgent(host, matching, { traced: true });
    expect(result).toMatchObject({ protocol: 2, refusal: { reason: 'WrongMachine' } });
    expect(effects).toHaveLength(2);
    expect(await stateOf(host)).toEqual(before);
    const right = await runAgent(host, requestWith({ machineId: 'machine-b' }));
    expect(right.result?.outcome).toBe('ok');
  });

  test('the result lists known NICs and the fence', async () => {
    host = await createHost('known', { nics: { ens5: mac } });
    const { result } = await runAgent(host, requestWith({ generation: 4 }));
    expect(result).toMatchObject({
      known: [{ mac, index: 0, portId: 'port-1' }],
      fence: { uid: 'uid-1', generation: 4 },
    });
  });

  test("a restored object's request is accepted only if it supersedes the host's fence", async () => {
    host = await createHost('restored', { nics: { ens5: mac } });
    await runAgent(host, requestWith({ generation: 9 }));
    const stale = await runAgent(host, requestWith({ generation: 3 }));
    expect(stale.result).toMatchObject({
      refusal: { reason: 'StaleRequest' },
      fence: { uid: 'uid-1', generation: 9 },
    });
    const supersedes = { uid: 'uid-1', generation: 9 };
    const late = { ...supersedes, generation: 8 };
    const refused = await runAgent(host, requestWith({ generation: 3, supersedes: late }));
    expect(refused.result?.refusal?.reason).toBe('StaleRequest');
    const { result } = await runAgent(host, requestWith({ generation: 3, supersedes }));
    expect(result).toMatchObject({ outcome: 'ok', fence: { uid: 'uid-1', generation: 3 } });
  });

  test('the agent answers a protocol 1 request in protocol 1', async () => {
    host = await createHost('one', { nics: { ens5: mac } });
    const { result } = await runAgent(host, request([wanted]));
    expect(result).toMatchObject({ protocol: 1 });
    expect(result).not.toHaveProperty('known');
  });
});
