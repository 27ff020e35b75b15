import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { Family, JobRequest, RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost, filesOfOurs } from './family-host.ts';
import { stateOf, without } from './host-state.ts';
import { ipWith } from './line-by-line-ip.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const gateway = '10.0.0.254';
const a = nic(0, first, '10.0.0.11/16', { gateway });
const b = nic(1, second, '10.1.0.12/16');
const beside = { mac: second, name: 'multinic1', reason: 'Configured' };

let host: NamespaceHost;
afterEach(() => host.down());

async function apply(family: Family, attempt: number, path?: string) {
  return ask([a, b], { family, attempt }, path);
}

async function ask(
  entries: readonly RequestInterface[],
  more: Partial<JobRequest> = {},
  path?: string,
) {
  const jobRequest = request(entries, { protocol: 3, ...more });
  const { result, stderr } = await runAgent(host, jobRequest, path ? { path } : {});
  if (!result) throw new Error(`no result: ${stderr}`);
  return result;
}

/** Runs the agent; `happens` runs once on the host, before the first matching `ip` line. */
async function applyWhile(family: Family, pattern: string, happens: string) {
  const once = `mkdir ${join(host.root, 'happened')} 2>/dev/null`;
  const path = await ipWith(host, `[[ $line =~ ${pattern} ]] && ${once} && { ${happens}; }`);
  return apply(family, 0, path);
}

const aboutFirst = ['"ens5"', '"eth7"', 'multinic0', '10.0.', '10.9.', first];
const others = async () =>
  without(await stateOf(host), ...aboutFirst, 'multinic1', '10.1.', second);

describe.each(['netplan', 'keyfile'] as const)(
  'disturbances during a change on a %s host',
  (family) => {
    test('a NIC unplugged during its change leaves nothing behind, and is configured when replugged', async () => {
      host = await createFamilyHost('unplug', family, { ens5: first, ens6: second });
      const before = await others();
      const cable = `ip -n ${host.fabric} link del sw${first.replaceAll(':', '')}`;
      const { nics } = await applyWhile(family, 'addr.replace.10.0.0.11', cable);
      expect(nics).toMatchObject([{ state: 'Failed', reason: 'ApplyFailed' }, beside]);
      expect(JSON.stringify([await stateOf(host), await filesOfOurs(host)])).not.toMatch(
        /multinic0|10\.0\.0\.11/,
      );
      expect(await others()).toEqual(before);
      await host.plug('ens5', first);
      expect((await apply(family, 1)).outcome).toBe('ok');
    });

    test('[RW-16] a NIC leased during its change keeps lease and default route, and is changed no more', async () => {
      host = await createFamilyHost('lease', family, { ens5: first, ens6: second });
      const before = await others();
      const lease = [
        'ip addr add 10.9.0.7/24 dev multinic0 valid_lft 600 preferred_lft 600',
        'ip route add default via 10.9.0.1 dev multinic0 proto dhcp metric 50',
      ];
      const { nics } = await applyWhile(family, '^rule.add.from.10.0.0.11', lease.join('; '));
      expect(nics).toMatchObject([{ name: 'multinic0', reason: 'Configured' }, beside]);
      expect(await host.ip('route', 'show', 'default')).toContain('via 10.9.0.1 dev multinic0');
      expect(await others()).toEqual(before);
      const moved = await ask([{ ...a, mtu: 1300 }, b], { family, attempt: 1 });
      expect(moved.nics).toMatchObject([{ name: 'multinic0', reason: 'LeasedByHost' }, beside]);
      await host.ip('route', 'del', 'default', 'dev', 'multinic0');
      await host.ip('addr', 'del', '10.9.0.7/24', 'dev', 'multinic0');
      expect((await apply(family, 2)).outcome).toBe('ok');
    });

    test('configuration dropped by a reloading network manager is restored', async () => {
      host = await createFamilyHost('reload', family, { ens5: first, ens6: second });
      const reload =
        'ip addr flush dev multinic0; ip rule flush; ip rule add table main pref 32766';
      const run = await applyWhile(family, '^rule.add.from.10.0.0.11', reload);
      expect(run.outcome).toBe('ok');
      const configured = await stateOf(host);
      expect(JSON.stringify(configured.rules)).toContain('10.0.0.11');
      await apply(family, 1);
      expect(await stateOf(host)).toEqual(configured);
    });
  },
);

test('a NIC renamed by cloud-init during its change leaves nothing behind, and is found by MAC in the next run', async () => {
  host = await createFamilyHost('renamed', 'netplan', { ens5: first, ens6: second });
  const before = await others();
  const rename = 'ip link set dev ens5 name eth7';
  const { nics } = await applyWhile('netplan', '^link.set.dev.ens5.name', rename);
  expect(nics).toMatchObject([{ state: 'Failed', reason: 'ApplyFailed' }, beside]);
  expect(JSON.stringify(await filesOfOurs(host))).not.toContain('multinic0');
  expect(await others()).toEqual(before);
  expect((await apply('netplan', 1)).outcome).toBe('ok');
});

test('[RW-69] an agent told to stop during a change finishes it', async () => {
  host = await createFamilyHost('stopped', 'netplan', { ens5: first, ens6: second });
  const run = await applyWhile('netplan', '^rule.add.from.10.0.0.11', 'kill -TERM $PPID');
  expect(run).toMatchObject({ outcome: 'ok', nics: [{ name: 'multinic0' }, beside] });
  const configured = await stateOf(host);
  expect((await apply('netplan', 1)).outcome).toBe('ok');
  expect(await stateOf(host)).toEqual(configured);
});

const third = '02:00:00:00:01:07';
const unplug = (mac: string) => `ip -n ${host.fabric} link del sw${mac.replaceAll(':', '')}`;

/** Disturbances to the second NIC, `ens6`, before its change; `foreign` is the MAC of the later link with this name. */
const lostNames = [
  {
    what: 'is unplugged, and another port is plugged in under its name',
    happens: () => [
      unplug(second),
      `ip -n ${host.fabric} link add swother type veth peer name ens6 address ${third} netns ${host.netns}`,
      `ip -n ${host.fabric} link set swother master br0 up`,
    ],
    foreign: third,
    reason: 'WaitingForNIC',
  },
  {
    what: 'is unplugged, and a container bridge gets its name',
    happens: () => [
      unplug(second),
      `ip link add ens6 address ${third} type bridge`,
      'ip addr add 10.77.0.1/24 dev ens6',
      'ip link set ens6 up',
    ],
    foreign: third,
    reason: 'WaitingForNIC',
  },
  {
    what: 'is renamed, and another link gets its name',
    happens: () => [
      'ip link set ens6 name eth7',
      `ip link add ens6 address ${third} type veth peer name far6`,
      'ip link set ens6 up',
    ],
    foreign: third,
    // The rollback cannot restore a name held by the foreign link.
    reason: 'RollbackFailed',
    recovers: true,
  },
];

test.each(lostNames)(
  'the agent leaves the link ens6 unchanged when, after the removal of another NIC, NIC ens6 $what',
  async ({ happens, foreign, reason, recovers = false }) => {
    host = await createFamilyHost('lost-name', 'netplan', { ens5: first, ens6: second });
    expect((await ask([a])).outcome).toBe('ok');
    const once = `mkdir ${join(host.root, 'happened')} 2>/dev/null`;
    const log = join(host.root, 'foreign');
    const show = 'ip addr show dev ens6';
    const lines = [...happens(), 'sleep 0.2', `${show} > ${log}`].join('; ');
    const path = await ipWith(host, `[[ $line =~ ^rule.del ]] && ${once} && { ${lines}; }`);
    const { nics } = await ask([b], { generation: 2 }, path);
    expect(nics).toMatchObject([
      { mac: second, reason },
      { mac: first, reason: 'Removed' },
    ]);
    const before = await readFile(log, 'utf8');
    expect(before).toContain(foreign);
    expect((await host.exec('ip', 'addr', 'show', 'dev', 'ens6')).stdout).toBe(before);
    expect(JSON.stringify(await stateOf(host))).not.toContain('10.1.0.12');
    if (recovers) expect((await ask([b], { generation: 3 })).outcome).toBe('ok');
  },
);
