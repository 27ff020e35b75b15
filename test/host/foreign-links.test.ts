import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOfOurs } from './family-host.ts';
import { ipWith } from './line-by-line-ip.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const wanted = nic(0, first, '10.0.0.11/16', { gateway: '10.0.0.254' });
const moved = { ...wanted, addresses: ['10.0.0.21/16'] };
const beside = nic(1, second, '10.1.0.12/16');

let host: NamespaceHost;
let generation = 0;
afterEach(() => host.down());

async function apply(
  entries: readonly RequestInterface[],
  { path, ...more }: Partial<JobRequest> & { readonly path?: string } = {},
) {
  const jobRequest = request(entries, { generation: ++generation, ...more });
  const { result, stderr } = await runAgent(host, jobRequest, path ? { path } : {});
  if (!result) throw new Error(`no result: ${stderr}`);
  return result.nics;
}

/** Runs the agent; `happens` runs once on the host, before the first `ip` line satisfying the bash condition. */
async function applyWhile(entries: readonly RequestInterface[], when: string, happens: string) {
  const once = `mkdir ${join(host.root, 'happened')} 2>/dev/null`;
  const path = await ipWith(host, `${when} && ${once} && { ${happens}; }`);
  return apply(entries, { path });
}

const beforeRules = '[[ $line =~ ^rule.add ]]';
const afterChange = '[[ $line =~ show ]] && ip -4 addr show | grep -q 10.0.0.21';

const ips = async (...lines: readonly string[]): Promise<void> => {
  for (const line of lines) await host.ip(...line.split(' '));
};
async function onHost(lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const [command = '', ...args] = line.split(' ');
    const { code, stderr } = await host.exec(command, ...args);
    if (code !== 0) throw new Error(`${line}: ${stderr}`);
  }
}
const journals = () => readdir(join(host.root, 'var/lib/multinic/journal'));
const defaultRoutes = async () => (await host.ip('route', 'show', 'default')).trim();
const ourRules = async () =>
  (await host.ip('rule', 'show')).split('\n').filter((line) => line.includes('10.0.0.'));

async function foreign(): Promise<string> {
  const state = await host.ip('-o', '-4', 'addr', 'show', 'dev', 'brx', 'up');
  expect(state).toContain('10.0.0.11/16');
  return state;
}

const makes: Readonly<Record<string, string>> = {
  bridge: 'link add brx type bridge',
  tap: 'tuntap add dev brx mode tap',
  vxlan: 'link add brx type vxlan id 5 dstport 4789 local 10.200.0.2',
};

describe.each(Object.keys(makes))("%s with the port's MAC", (kind) => {
  const plant = async (): Promise<string> => {
    await ips(
      makes[kind] ?? '',
      `link set dev brx address ${first}`,
      'link set dev brx up',
      'addr add 10.0.0.11/16 dev brx',
    );
    return foreign();
  };

  test("a foreign link with the port's MAC is unchanged when the port is detached", async () => {
    host = await createHost(`mac-${kind}`, { nics: { ens5: first } });
    expect(await apply([wanted])).toMatchObject([{ state: 'Configured' }]);
    await host.unplug(first);
    const before = await plant();
    expect(await apply([])).toMatchObject([{ mac: first, state: 'Removed', name: '' }]);
    expect(await foreign()).toBe(before);
    expect(await filesOfOurs(host)).toEqual({});
  });

  test("a foreign link with the port's MAC is not mistaken for an unplugged NIC", async () => {
    host = await createHost(`mac-${kind}`, { nics: { ens6: second } });
    const before = await plant();
    const waiting = { mac: first, state: 'Pending', reason: 'WaitingForNIC' };
    const other = { mac: second, state: 'Configured' };
    expect(
      await apply([{ ...wanted, addresses: ['10.5.0.11/16'], gateway: '10.5.0.1' }, beside]),
    ).toMatchObject([waiting, other]);
    expect(await foreign()).toBe(before);
  });
});

/** Disturbances on the host during a change, with their reversal. */
const disturbances = [
  {
    what: 'a second NIC takes the MAC',
    happens: ['ip link add ens7 type veth peer name far7', `ip link set dev ens7 address ${first}`],
    ends: ['link del ens7'],
    reason: 'RollbackFailed',
    words: /rollback failed: links \S+ and \S+ have the same/,
    name: '',
    live: beforeRules,
  },
  {
    what: 'the NIC becomes the only way out of the node',
    happens: ['ip route replace default via 10.0.0.254 dev multinic0 onlink'],
    ends: ['route replace default via 10.200.0.254 dev eth0'],
    reason: 'RollbackFailed',
    words: /rollback failed: multinic0 has a default route/,
    name: 'multinic0',
    // Within one `ip` batch, deleting an address deletes every route on the NIC.
    live: afterChange,
    keeps: 'default via 10.0.0.254 dev multinic0 onlink',
  },
] as const;

describe.each(disturbances)('disturbance during a change: $what', (disturbance) => {
  const { happens, ends, reason, words, name } = disturbance;
  const failed = {
    mac: first,
    name,
    state: 'Failed',
    reason,
    message: expect.stringMatching(words) as string,
  };
  const afterwards = async () => {
    expect(await journals()).toEqual(['0.json']);
    if ('keeps' in disturbance) expect(await defaultRoutes()).toContain(disturbance.keeps);
  };

  test('a disturbed first attach is reported as RollbackFailed, and the next run finishes it', async () => {
    host = await createHost('disturbed', { nics: { ens5: first } });
    const nics = await applyWhile([wanted], beforeRules, happens.join('; '));
    expect(nics).toMatchObject([failed]);
    await afterwards();
    await ips(...ends);
    expect(await apply([wanted])).toMatchObject([{ state: 'Configured', name: 'multinic0' }]);
    expect(await apply([], { action: 'cleanup' })).toMatchObject([{ state: 'Removed' }]);
    expect(await host.ip('-4', '-o', 'addr', 'show')).not.toContain('10.0.0.');
    expect(await ourRules()).toEqual([]);
  });

  test('a disturbed change to a configured NIC is reported as RollbackFailed, and a later request repairs the NIC', async () => {
    host = await createHost('disturbed', { nics: { ens5: first } });
    await apply([wanted]);
    const nics = await applyWhile([moved], disturbance.live, happens.join('; '));
    expect(nics).toMatchObject([failed]);
    await afterwards();
    await ips(...ends);
    expect(await apply([wanted])).toMatchObject([{ state: 'Configured' }]);
    expect(await host.ip('-4', '-o', 'addr', 'show', 'multinic0')).not.toContain('10.0.0.21');
    expect(await ourRules()).toHaveLength(1);
  });
});

test('a NIC with a new twin during its release is released by the next run', async () => {
  host = await createHost('removed', { nics: { ens5: first } });
  await apply([wanted]);
  const twin = disturbances[0];
  const nics = await applyWhile([], '[[ $line =~ ^rule.del ]]', twin.happens.join('; '));
  expect(nics).toMatchObject([{ reason: 'RollbackFailed', name: '' }]);
  expect(await journals()).toEqual(['0.json']);
  await ips(...twin.ends);
  expect(await apply([])).toMatchObject([{ state: 'Removed', name: 'ens5' }]);
  expect(await host.ip('-4', '-o', 'addr', 'show')).not.toContain('10.0.0.');
  expect([await ourRules(), await filesOfOurs(host)]).toEqual([[], {}]);
});

test("a NIC getting a default route during another NIC's release stays unchanged", async () => {
  host = await createHost('later', { nics: { ens5: first, ens6: second } });
  await apply([wanted, beside]);
  const gets = 'ip route add default via 10.0.0.254 dev multinic0 onlink metric 50';
  const nics = await applyWhile([moved], '[[ $line =~ ^rule.del.from.10.1. ]]', gets);
  expect(nics).toMatchObject([
    { mac: first, reason: 'PrimaryNIC', name: 'multinic0' },
    { mac: second, state: 'Removed' },
  ]);
  expect(await defaultRoutes()).toContain('default via 10.0.0.254 dev multinic0 metric 50');
  expect(await host.ip('-4', '-o', 'addr', 'show', 'multinic0')).toContain('10.0.0.11/16');
});

describe('NIC added to a bridge', () => {
  const inUse = [{ reason: 'NICInUse', name: 'multinic0', message: /is a member of brx/ }].map(
    (nicResult) => ({ ...nicResult, message: expect.stringMatching(nicResult.message) as string }),
  );
  const bridged = ['link add brx type bridge', 'link set dev brx up'];

  test('a bridge port is reported as NICInUse by apply and check until removed from the bridge', async () => {
    host = await createHost('enslaved', { nics: { ens5: first } });
    await apply([wanted]);
    await ips(...bridged, 'link set dev multinic0 master brx');
    expect(await apply([wanted])).toMatchObject(inUse);
    expect(await apply([moved])).toMatchObject(inUse);
    expect(await apply([wanted], { action: 'check' })).toMatchObject(inUse);
    await ips('link set dev multinic0 nomaster');
    expect(await apply([wanted])).toMatchObject([{ state: 'Configured' }]);
  });

  test.each(['[[ $line =~ ^addr.replace ]]', beforeRules])(
    'a NIC added to a bridge during its first change is reported as NICInUse: %s',
    async (when) => {
      host = await createHost('enslaved', { nics: { ens5: first } });
      const happens = [...bridged, 'link set dev multinic0 master brx'].map((line) => `ip ${line}`);
      expect(await applyWhile([wanted], when, happens.join('; '))).toMatchObject(inUse);
      await ips('link set dev multinic0 nomaster', 'link del brx');
      expect(await apply([wanted])).toMatchObject([{ state: 'Configured' }]);
    },
  );
});

test('a foreign default route in a separate table blocks changes to the NIC, but not an unchanged NIC', async () => {
  host = await createHost('egress', { nics: { ens5: first } });
  await apply([wanted]);
  await ips(
    'route add default via 10.0.0.254 dev multinic0 table 2007',
    'rule add pref 111 from 10.244.1.5 lookup 2007',
  );
  const configured = [{ state: 'Configured' }];
  const inUse = [
    { reason: 'NICInUse', message: 'multinic0 has a foreign route to 0.0.0.0/0 in table 2007' },
  ];
  expect(await apply([wanted])).toMatchObject(configured);
  expect(await apply([wanted], { action: 'check' })).toMatchObject(configured);
  expect(await apply([moved])).toMatchObject(inUse);
  expect(await apply([])).toMatchObject(inUse);
});

test('a NIC is changed while kube-proxy has its address on a link without ARP', async () => {
  host = await createHost('ipvs', { nics: { ens5: first } });
  await apply([wanted]);
  await ips('link add kube-ipvs0 type ifb', 'addr add 10.0.0.11/32 dev kube-ipvs0');
  expect(await apply([wanted])).toMatchObject([{ state: 'Configured' }]);
  expect(await apply([{ ...wanted, mtu: 1400 }])).toMatchObject([{ state: 'Configured' }]);
  expect(await apply([])).toMatchObject([{ state: 'Removed' }]);
  expect(await host.ip('-o', 'addr', 'show', 'dev', 'kube-ipvs0')).toContain('10.0.0.11/32');
});

describe("host without a NIC's file folder", () => {
  test.each(['apply', 'check'] as const)(
    '%s changes nothing if a file folder is missing',
    async (action) => {
      host = await createHost('folder', { nics: { ens5: first } });
      await mkdir(join(host.root, 'etc/sysctl.d'));
      await rm(join(host.root, 'etc/netplan'), { recursive: true });
      const before = await host.ip('-o', 'addr', 'show');
      expect(await apply([wanted], { action })).toMatchObject([
        { reason: 'PersistFailed', message: 'the node has no folder /etc/netplan; create it' },
      ]);
      expect(await host.ip('-o', 'addr', 'show')).toBe(before);
      expect(await readdir(join(host.root, 'etc/sysctl.d'))).toEqual([]);
      await expect(journals()).rejects.toThrow('ENOENT');
    },
  );

  test('a change is rolled back if a file folder disappears meanwhile', async () => {
    host = await createHost('folder', { nics: { ens5: first } });
    await mkdir(join(host.root, 'etc/sysctl.d'));
    const remove = `rm -r ${join(host.root, 'etc/netplan')}`;
    expect(await applyWhile([wanted], beforeRules, remove)).toMatchObject([
      {
        name: 'ens5',
        reason: 'PersistFailed',
        message: expect.stringMatching(/^ENOENT/) as string,
      },
    ]);
    expect(await readdir(join(host.root, 'etc/sysctl.d'))).toEqual([]);
    expect(await journals()).toEqual([]);
  });
});

const pod = 'multinic-foreign-links-pod';
const users = [
  {
    what: "a macvlan in a Pod's namespace",
    uses: [
      'ip link add mv0 link multinic0 address 02:00:00:00:02:01 type macvlan mode bridge',
      `ip link set mv0 netns ${pod}`,
      `ip -n ${pod} link set mv0 up`,
    ],
    ends: [`ip -n ${pod} link del mv0`],
  },
  {
    what: 'a static forwarding database entry, as set by an SR-IOV agent',
    uses: ['bridge fdb add 02:00:00:00:02:01 dev multinic0 self permanent'],
    ends: ['bridge fdb del 02:00:00:00:02:01 dev multinic0 self permanent'],
  },
] as const;

describe.each(users)('NIC with $what', ({ uses, ends }) => {
  afterEach(() => run('ip', ['netns', 'del', pod]));

  test('a NIC with another user is changed, and released only after the user is gone', async () => {
    host = await createHost('users', { nics: { ens5: first } });
    await run('ip', ['netns', 'add', pod]);
    await apply([wanted]);
    await onHost(uses);
    const inUse = {
      state: 'Failed',
      reason: 'NICInUse',
      message:
        'multinic0 also receives frames for MAC 02:00:00:00:02:01, probably of a macvlan in a Pod',
    };
    expect(await apply([moved])).toMatchObject([{ state: 'Configured' }]);
    expect(await apply([], { action: 'check' })).toMatchObject([inUse]);
    expect(await apply([])).toMatchObject([inUse]);
    expect(await apply([], { action: 'cleanup' })).toMatchObject([inUse]);
    expect(await host.ip('-4', '-o', 'addr', 'show', 'dev', 'multinic0')).toContain('10.0.0.21');
    await onHost(ends);
    expect(await apply([])).toMatchObject([{ state: 'Removed', name: 'ens5' }]);
  });
});
