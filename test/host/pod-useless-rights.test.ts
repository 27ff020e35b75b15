import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { JobAction } from '../../src/api/job.ts';
import { createFamilyHost } from './family-host.ts';
import { type PodRun, type PodSpec, runPod } from './pod.ts';
import { mac, machineIdOf, podOf, type Whole, wholeOf } from './pod-task.ts';

let host: NamespaceHost;
let machineId: string;
beforeEach(async () => {
  host = await createFamilyHost('useless-rights', 'netplan', { ens5: mac });
  machineId = await machineIdOf(host);
});
afterEach(() => host.down());

interface Odd {
  /** Line of a shell that happens once everything is mounted; `$root` is where. */
  readonly before?: string;
  readonly hostNetwork?: boolean;
  /** Those that are left to it. */
  readonly capabilities?: readonly string[];
  readonly protectedAddresses?: readonly string[];
}

/** A Pod that has all that its Job gives it, some of which is of no use. */
function run(action: JobAction, odd: Odd = {}): Promise<PodRun> {
  const { before, hostNetwork = true, protectedAddresses } = odd;
  const { spec, map } = podOf({
    family: 'netplan',
    action,
    machineId,
    ...(protectedAddresses ? { protectedAddresses } : {}),
  });
  const { capabilities } = odd;
  const left = capabilities ? withCapabilities(spec, [...capabilities]) : spec;
  return runPod(host, { ...left, hostNetwork }, map, before);
}

function withCapabilities({ containers, ...spec }: PodSpec, add: string[]): PodSpec {
  const less = containers.map(({ securityContext, ...agent }) => ({
    ...agent,
    securityContext: { ...securityContext, capabilities: { drop: ['ALL'], add } },
  }));
  return { ...spec, containers: less };
}

async function expectRefused(
  { result, code, stderr }: PodRun,
  { named, unsaid = 'never', before }: Readonly<{ named: RegExp; unsaid?: string; before: Whole }>,
): Promise<void> {
  expect(code, stderr).toBe(1);
  expect(result, stderr).toMatchObject({
    outcome: 'refused',
    refusal: { reason: 'RightMissing', message: expect.stringMatching(named) as string },
  });
  expect(result?.refusal?.message).not.toContain(unsaid);
  expect(await wholeOf(host)).toEqual(before);
}

describe('a Node of which no address is known', () => {
  const nobody = { protectedAddresses: [] };

  test.each(['apply', 'check', 'cleanup'] as const)(
    'an agent in a network of its own takes no NIC for gone: %s',
    async (action) => {
      expect((await run('apply')).result?.outcome).toBe('ok');
      const before = await wholeOf(host);
      const lost = await run(action, { ...nobody, hostNetwork: false });
      await expectRefused(lost, { named: /hostNetwork.*no address/, before });
    },
  );

  test.each(['apply', 'cleanup'] as const)('an agent of the host does it: %s', async (action) => {
    expect((await run('apply', nobody)).result?.outcome).toBe('ok');
    expect((await run(action, nobody)).result?.outcome).toBe('ok');
  });

  test('nothing is to be done, and nothing was: is done in any network', async () => {
    const { result, stderr } = await run('cleanup', { ...nobody, hostNetwork: false });
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [] });
  });
});

test("the Node's address on a link that is down is the host's all the same: a NIC is waited for", async () => {
  await host.ip('link', 'set', 'dev', 'eth0', 'down');
  await host.unplug(mac);
  const { result, stderr } = await run('apply');
  expect(result, stderr).toMatchObject({ nics: [{ reason: 'WaitingForNIC' }] });
});

describe('a folder of the host', () => {
  test.each([
    ['/etc/netplan', 'that belongs to another user', 'chown 1000'],
    ['/etc/netplan', 'whose mode shuts out its owner', 'chmod 0555'],
    ['/var/lib/multinic', 'that belongs to another user alone', 'chown 1000'],
    ['/run/systemd/units', 'that nobody else may look into', 'chmod 0700'],
    ['/run/systemd/netif/links', 'that nobody else may look into', 'chmod 0700'],
    ['/run/systemd/netif/links', 'that nobody else may list', 'chmod 0711'],
  ])('%s %s: is named, with what shuts a root without capabilities out', async (path, _, line) => {
    const [change = '', ...rest] = line.split(' ');
    const folder = `${host.root}${path}`;
    await host.exec('mkdir', '-p', folder);
    await host.exec(change, ...rest, folder);
    if (path.startsWith('/run')) await host.exec('chown', '1000', folder);
    const before = await wholeOf(host);
    const named = new RegExp(`${path} \\(EACCES\\).*owner and mode.*SELinux`);
    await expectRefused(await run('apply'), { named, unsaid: 'read-only', before });
  });

  test('that became read-only: is named, with the file system that may be the cause', async () => {
    const before = await wholeOf(host);
    const lock = 'mount -o remount,bind,ro $root/host/etc/netplan';
    const named = /\/etc\/netplan \(EROFS\).*file system of the host that is read-only/;
    await expectRefused(await run('apply', { before: lock }), { named, unsaid: 'SELinux', before });
  });

  test.each(['/etc/netplan', '/etc/sysctl.d', '/var/lib/multinic', '/usr/lib'])(
    '%s that is a file: is named, and nothing else is blamed',
    async (path) => {
      const before = await wholeOf(host);
      const there = `$root/host${path}`;
      const file = `mount -o remount,bind,rw $root; umount ${there}; rmdir ${there}; : > ${there}`;
      const named = new RegExp(`the mount of ${path} \\(ENOTDIR\\)`);
      await expectRefused(await run('apply', { before: file }), { named, unsaid: 'owner', before });
    },
  );
});

describe('a volume of the Pod in the place of a folder of the host', () => {
  test.each([
    ['/var/lib/multinic', 'cleanup', 'empty-dir/state'],
    ['/etc/netplan', 'apply', 'empty-dir/netplan'],
    ['/run/systemd/units', 'check', 'configmap/units'],
  ] as const)('%s: nothing in it is taken for the host, %s', async (path, action, volume) => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    const folder = `/var/lib/kubelet/pods/some-uid/volumes/kubernetes.io~${volume}`;
    await host.exec('mkdir', '-p', host.root + folder);
    const before = await wholeOf(host);
    const line = `mount --bind ${host.root}${folder} $root/host${path}`;
    const named = new RegExp(`the mount of ${path} \\(kubernetes.io~${volume} is there\\)`);
    await expectRefused(await run(action, { before: line }), { named, before });
  });
});

describe('an agent that only looks', () => {
  const locked = ['/etc/netplan', '/etc/sysctl.d', '/var/lib/multinic', '/proc/sys/net'];
  const lock = locked.map((path) => `mount -o remount,bind,ro $root/host${path}`).join('\n');

  test('tells what is there, whatever it may not write or change', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    const before = await wholeOf(host);
    const { result, stderr } = await run('check', { before: lock, capabilities: [] });
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [{ reason: 'Configured' }] });
    expect(await wholeOf(host)).toEqual(before);
  });

  test('tells what differs there', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    await host.ip('addr', 'flush', 'dev', 'multinic0');
    const { result, stderr } = await run('check', { before: lock, capabilities: [] });
    expect(result, stderr).toMatchObject({ outcome: 'failed', nics: [{ reason: 'Drifted' }] });
  });

  test('says nothing of NICs where it may not look', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    await host.exec('chown', '1000', `${host.root}/var/lib/multinic`);
    const before = await wholeOf(host);
    const named = /\/var\/lib\/multinic \(EACCES\)/;
    await expectRefused(await run('check'), { named, before });
  });
});
