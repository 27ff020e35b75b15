import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { plantForeignState } from './foreign.ts';
import { ipOnOldKernel, ipWith } from './line-by-line-ip.ts';

const mac = '02:00:00:00:01:05';
const wanted = nic(0, mac, '10.0.0.11/24', { gateway: '10.0.0.254' });

let host: NamespaceHost;
beforeEach(async () => {
  host = await createHost('theirs', { nics: { ens5: mac } });
  await plantForeignState(host);
});
afterEach(() => host.down());

/** Route on the NIC marked protocol kernel, as set by some container networks; no address explains it. */
const theirs = 'route add 10.8.0.0/16 dev ens5 proto kernel scope link metric 77';

async function plantOnNic(...lines: readonly string[]): Promise<void> {
  for (const line of ['link set dev ens5 up', ...lines]) await host.ip(...line.split(' '));
}

const permanent = [
  '10.0.0.77 lladdr 02:00:00:00:00:77',
  'fe80::77 lladdr 02:00:00:00:00:78 router',
];

/** When the last IPv4 address goes, the kernel deletes the IPv4 neighbours (arp_ifdown). */
const six = nic(0, mac, 'fd00::11/64');

const refused = "fail 'Operation not permitted'";

/** Bash condition true only for the first line reaching it. */
const once = () => `mkdir ${join(host.root, 'once')} 2>/dev/null`;

const routesOf = (name: string) => host.ip('route', 'show', 'dev', name);

/** Directory with an `ip` running this command while the agent renames the NIC. */
const meanwhile = (command: string) =>
  ipWith(host, `[[ $line == *name\\ multinic0* ]] && { ${command}; }`);

describe('foreign state on a host', () => {
  test('a foreign route on a NIC staying up is kept', async () => {
    await plantOnNic(theirs);
    const { result, stderr } = await runAgent(host, request([wanted]));
    expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(await routesOf('multinic0')).toContain('10.8.0.0/16 proto kernel scope link metric 77');
    expect(stderr).not.toContain('restoring foreign state');
  });

  test('a foreign route on a NIC going through down is restored', async () => {
    await plantOnNic(theirs);
    const { result, stderr } = await runAgent(host, request([wanted]), {
      path: await ipOnOldKernel(host),
    });
    expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(await routesOf('multinic0')).toContain('10.8.0.0/16 proto kernel scope link metric 77');
    expect(stderr).toContain('restoring foreign state');
  });

  describe('permanent neighbours', () => {
    test.each<[string, RequestInterface, string, () => string]>([
      ['is renamed', wanted, 'multinic0', () => ':'],
      [
        'is renamed and rolled back',
        wanted,
        'ens5',
        () => `[[ $line == rule\\ add* ]] && ${refused}`,
      ],
      ['loses its IPv4 addresses', six, 'multinic0', () => ':'],
      [
        'loses its IPv4 addresses and is rolled back',
        six,
        'multinic0',
        // The addresses are gone by the time the new address is set again.
        () => `[[ $line == addr\\ replace\\ fd00::11* ]] && { ${once()} || ${refused}; }`,
      ],
    ])('permanent neighbours are restored when the NIC %s', async (_, next, name, hook) => {
      if (next === wanted) await plantOnNic();
      else await runAgent(host, request([wanted]));
      const before = next === wanted ? 'ens5' : 'multinic0';
      for (const each of permanent)
        await host.ip(...`neigh add ${each} nud permanent dev ${before}`.split(' '));
      const path = await ipOnOldKernel(host, hook());
      const { result } = await runAgent(host, request([next], { generation: 2 }), { path });
      expect(result, JSON.stringify(result)).toMatchObject({ warnings: [] });
      expect(result?.nics[0]?.message).toMatch(hook() === ':' ? /^$/ : /; rolled back$/);
      const seen = await host.ip('neigh', 'show', 'nud', 'permanent', 'dev', name);
      for (const each of permanent) expect(seen).toContain(each);
    });
  });

  test('a next-hop route marked protocol kernel makes the NIC NICInUse', async () => {
    await plantOnNic(theirs, 'route add 10.7.0.0/16 via 10.8.0.1 dev ens5 proto kernel');
    const { result } = await runAgent(host, request([wanted]));
    expect(result?.nics).toMatchObject([{ name: 'ens5', reason: 'NICInUse' }]);
    expect(await routesOf('ens5')).toContain('10.7.0.0/16 via 10.8.0.1 proto kernel');
  });

  test('a lost foreign route is not restored on a NIC leased meanwhile', async () => {
    await plantOnNic(theirs);
    const lease = 'ip addr add 10.9.0.7/24 dev multinic0 valid_lft 600 preferred_lft 600';
    const path = await ipOnOldKernel(
      host,
      `[[ "$line" == rule\\ add\\ from\\ 10.0.0.11* ]] && ${lease}`,
    );
    const { result } = await runAgent(host, request([wanted]), { path });
    expect(result, JSON.stringify(result)).toMatchObject({
      nics: [{ reason: 'Configured' }],
    });
    expect(await routesOf('multinic0')).not.toContain('10.8.0.0/16');
  });

  test('restoring foreign routes stops after 20 refusals', async () => {
    await runAgent(host, request([wanted]));
    const routes = Array.from({ length: 60 }, (_, n) => `10.20.${n}.0/24`);
    for (const to of routes)
      await host.ip(
        ...`route add ${to} dev multinic0 proto kernel scope link src 10.0.0.11`.split(' '),
      );
    const tries = join(host.root, 'tries');
    const path = await ipWith(
      host,
      `[[ $line == route\\ replace\\ 10.20.* ]] && echo x >> ${tries}`,
    );
    // The kernel deletes the routes together with their source address.
    const moved = { ...wanted, addresses: ['10.0.0.12/24'] };
    const { result } = await runAgent(host, request([moved], { generation: 2 }), { path });
    expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'ok', warnings: [] });
    expect((await host.exec('wc', '-l', tries)).stdout).toMatch(/^20 /);
  });

  test('foreign state deleted by its owner during a run is not restored', async () => {
    const path = await meanwhile(
      'ip rule del priority 111; ip route del blackhole 10.246.0.0/24; ip link del multinic9',
    );
    const { result } = await runAgent(host, request([wanted]), { path });
    expect(result).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(await host.ip('rule', 'show')).not.toContain('10.244.0.0/16');
  });

  test('an unreadable host after a rollback leaves every result as it was', async () => {
    await plantOnNic(theirs);
    const [file, undone] = ['etc/netplan/90-multinic0.yaml', 'undone'].map((at) =>
      join(host.root, at),
    );
    const path = await ipWith(
      host,
      `[[ $line == *name\\ multinic0* ]] && mkdir -p ${file}/in-the-way
       [[ $line == *name\\ ens5* ]] && touch ${undone}
       [[ $line == link\\ show* && -e ${undone} ]] && { echo look >> ${undone}
         [ "$(wc -l < ${undone})" -gt 2 ] && fail 'no more looks'; }`,
    );
    const { result, stderr } = await runAgent(host, request([wanted]), { path });
    expect(result).toMatchObject({
      nics: [{ name: 'ens5', reason: 'PersistFailed' }],
      warnings: [],
      family: 'netplan',
    });
    expect(stderr).toContain('foreign state not restored');
  });

  test.each([
    ['finished', 'after', 'multinic0'],
    ['rolled back', 'before', 'ens5'],
  ])(
    'a foreign route is restored when the next run leaves an interrupted change %s',
    async (_, phase, name) => {
      await plantOnNic();
      await runAgent(host, request([wanted]), { killAt: `agent.file.commit ${phase} 1` });
      for (const line of [
        'route add 10.8.0.0/16 dev multinic0 proto kernel scope link metric 77',
        // Restores the old name: on a kernel renaming only down links, the NIC must go through "down".
        ...(name === 'multinic0' ? ['link set dev multinic0 name ens5'] : []),
      ])
        await host.ip(...line.split(' '));
      const path = await ipOnOldKernel(host);
      const next =
        name === 'multinic0' ? request([wanted], { attempt: 1 }) : request([], { generation: 2 });
      const { result, stderr } = await runAgent(host, next, { path });
      expect(result, stderr).toMatchObject({ outcome: 'ok', warnings: [] });
      expect(await routesOf(name)).toContain('10.8.0.0/16 proto kernel scope link metric 77');
    },
  );

  test('a run without changes reads the kernel once', async () => {
    await runAgent(host, request([wanted]));
    const looks = join(host.root, 'looks');
    const path = await ipWith(host, `[[ $line == link\\ show* ]] && echo look >> ${looks}`);
    await runAgent(host, request([wanted], { attempt: 1 }), { path });
    expect((await host.exec('cat', looks)).stdout).toBe('look\n');
  });
});

async function killed(): Promise<void> {
  // A kernel renaming only down links takes the NIC through "down", in a second batch.
  const path = await ipOnOldKernel(host, ':');
  const jobRequest = request([wanted]);
  const { code } = await runAgent(host, jobRequest, { killAt: 'agent.kernel.batch after 2', path });
  expect(code).toBe(137);
  expect(await host.ip('route', 'show', 'table', 'all')).not.toContain('10.8.0.0/16');
}

describe('foreign state lost in a killed run', () => {
  test('a foreign route on a managed NIC is restored by the run after a kill', async () => {
    await plantOnNic(theirs);
    await killed();
    const { result, stderr } = await runAgent(host, request([wanted], { attempt: 2 }));
    expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(await routesOf('multinic0')).toContain('10.8.0.0/16 proto kernel scope link metric 77');
    expect(stderr).toContain('restoring foreign state');
  });

  // Restoring a neighbour deleted on purpose would direct traffic to a removed host.
  test.each([
    ['10.8.0.9', 'its owner deleted after the crash'],
    ['fe80::89', 'its owner deleted after the crash'],
    ['10.8.0.9', 'went with the link'],
  ])('the next run does not set the permanent neighbour %s, which %s', async (ip, how) => {
    const neighbour = `${ip} lladdr 02:00:00:00:00:89`;
    await plantOnNic(theirs, `neigh add ${neighbour} nud permanent dev ens5`);
    if (how === 'went with the link') await killed();
    else {
      const before = { killAt: 'agent.kernel.batch before 1' };
      expect((await runAgent(host, request([wanted]), before)).code).toBe(137);
      await host.ip('neigh', 'del', ip, 'dev', 'ens5');
    }
    const { result } = await runAgent(host, request([wanted], { attempt: 2 }));
    expect(await host.ip('neigh', 'show', 'nud', 'permanent')).not.toContain(ip);
    expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'ok', warnings: [] });
  });

  test('a lost foreign route is not restored if another route took its slot', async () => {
    await plantOnNic(theirs);
    await killed();
    await host.ip(...'route add blackhole 10.8.0.0/16 metric 77'.split(' '));
    const { result } = await runAgent(host, request([wanted], { attempt: 2 }));
    expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'ok', warnings: [] });
    expect(await host.ip('route', 'show')).toContain('blackhole 10.8.0.0/16');
    expect(await routesOf('multinic0')).not.toContain('10.8.0.0');
  });

  test('foreign state lost in a kill before a reboot is not restored', async () => {
    await plantOnNic(theirs);
    await killed();
    const journal = join(host.root, 'var/lib/multinic/journal/0.json');
    const entry = JSON.parse(await readFile(journal, 'utf8')) as object;
    await writeFile(journal, JSON.stringify({ ...entry, bootId: 'the one before' }));
    const { result } = await runAgent(host, request([wanted], { attempt: 2 }));
    expect(result).toMatchObject({ outcome: 'ok' });
    expect(await routesOf('multinic0')).not.toContain('10.8.0.0');
  });
});
