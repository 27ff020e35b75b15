import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { request } from '../beds/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { plantForeignState } from './foreign.ts';
import { ipWith } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/24', { gateway: '10.0.0.254' });

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('theirs', { nics: { ens5: mac } });
  await plantForeignState(host);
});
afterEach(() => host.down());

const routesOf = (name: string) => host.ip('route', 'show', 'dev', name);

/** An `ip` of a host on which somebody does this while the agent gives the NIC its name. */
const meanwhile = (command: string) =>
  ipWith(host, `[[ $line == *name\\ multinic0* ]] && { ${command}; }`);

describe('what others have on a host', () => {
  test('is neither touched nor told of when a NIC comes and goes', async () => {
    const came = await runAgent(host, request([wanted]));
    const went = await runAgent(host, request([], { generation: 2 }));
    for (const { result } of [came, went]) {
      expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
      expect(result).not.toHaveProperty('foreignStateLost');
    }
  });

  test('on a NIC that has to go through "down" is there again after it', async () => {
    await host.ip(...'link set dev ens5 up'.split(' '));
    // As some who route to containers mark theirs; of the kernel's own it has no address behind it.
    await host.ip(...'route add 10.8.0.0/16 dev ens5 proto kernel scope link metric 77'.split(' '));
    const { result, stderr } = await runAgent(host, request([wanted]));
    expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(result).not.toHaveProperty('foreignStateLost');
    expect(await routesOf('multinic0')).toContain('10.8.0.0/16 proto kernel scope link metric 77');
    expect(stderr).toContain('others lost something');
  });

  test('and goes meanwhile is told of, and not put back', async () => {
    const path = await meanwhile(
      'ip rule del priority 111; ip route del blackhole 10.246.0.0/24; ip link del multinic9',
    );
    const { result } = await runAgent(host, request([wanted]), { path });
    expect(result).toMatchObject({
      outcome: 'ok',
      foreignStateLost: 3,
      warnings: [
        'ForeignStateLost link multinic9',
        'ForeignStateLost route 10.246.0.0/24 table 254 metric 0',
        'ForeignStateLost rule 111 of IPv4 from 10.244.0.0/16 lookup 200 proto 0',
      ],
    });
    expect(await host.ip('rule', 'show')).not.toContain('10.244.0.0/16');
  });

  test('and changes meanwhile is told of too: a file', async () => {
    const file = join(host.root, 'etc/netplan/60-storage.yaml');
    await writeFile(join(host.root, 'later'), 'network: {version: 2}\n');
    const path = await meanwhile(`cp ${host.root}/later ${file}`);
    const { result } = await runAgent(host, request([wanted]), { path });
    expect(result).toMatchObject({ outcome: 'ok', foreignStateLost: 1 });
    expect(result?.warnings).toEqual(['ForeignStateLost file /etc/netplan/60-storage.yaml']);
  });

  test('is looked at again when the change is undone', async () => {
    const file = join(host.root, 'etc/netplan/90-multinic0.yaml');
    const path = await ipWith(
      host,
      `[[ $line == *name\\ multinic0* ]] && mkdir -p ${file}/in-the-way
       [[ $line == *name\\ ens5* ]] && ip rule del priority 111`,
    );
    const { result } = await runAgent(host, request([wanted]), { path });
    expect(result).toMatchObject({
      nics: [{ reason: 'PersistFailed' }],
      foreignStateLost: 1,
      warnings: [expect.stringContaining('rule 111')],
    });
  });

  test('costs a run that changes nothing no further look', async () => {
    await runAgent(host, request([wanted]));
    const looks = join(host.root, 'looks');
    const path = await ipWith(host, `[[ $line == link\\ show* ]] && echo look >> ${looks}`);
    await host.ip('rule', 'del', 'priority', '111');
    const { result } = await runAgent(host, request([wanted], { attempt: 1 }), { path });
    expect(result).not.toHaveProperty('foreignStateLost');
    expect((await host.exec('cat', looks)).stdout).toBe('look\n');
  });
});
