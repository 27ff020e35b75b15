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
  /** Shell line run once everything is mounted; `$root` is the container's root. */
  readonly before?: string;
  readonly hostNetwork?: boolean;
  /** Capabilities the Pod keeps. */
  readonly capabilities?: readonly string[];
  readonly protectedAddresses?: readonly string[];
}

/** Runs a Pod with all rights from its Job, some without effect. */
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

describe('Node without known addresses', () => {
  const withoutAddresses = { protectedAddresses: [] };

  test.each(['apply', 'check', 'cleanup'] as const)(
    'an agent in a separate network takes no NIC for gone: %s',
    async (action) => {
      expect((await run('apply')).result?.outcome).toBe('ok');
      const before = await wholeOf(host);
      const lost = await run(action, { ...withoutAddresses, hostNetwork: false });
      await expectRefused(lost, { named: /hostNetwork.*no address/, before });
    },
  );

  test.each(['apply', 'cleanup'] as const)(
    "an agent in the host's network does its task: %s",
    async (action) => {
      expect((await run('apply', withoutAddresses)).result?.outcome).toBe('ok');
      expect((await run(action, withoutAddresses)).result?.outcome).toBe('ok');
    },
  );

  test('a clean-up without managed NICs succeeds in any network', async () => {
    const { result, stderr } = await run('cleanup', { ...withoutAddresses, hostNetwork: false });
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [] });
  });
});

test('a Node address on a down link identifies the host: an absent NIC is waited for', async () => {
  await host.ip('link', 'set', 'dev', 'eth0', 'down');
  await host.unplug(mac);
  const { result, stderr } = await run('apply');
  expect(result, stderr).toMatchObject({ nics: [{ reason: 'WaitingForNIC' }] });
});

describe('unusable host folder', () => {
  test.each([
    ['/etc/netplan', 'owned by another user', 'chown 1000'],
    ['/etc/netplan', 'read-only for its owner', 'chmod 0555'],
    ['/var/lib/multinic', 'owned exclusively by another user', 'chown 1000'],
    ['/run/systemd/units', 'accessible only to its owner', 'chmod 0700'],
    ['/run/systemd/netif/links', 'accessible only to its owner', 'chmod 0700'],
    ['/run/systemd/netif/links', 'listable only by its owner', 'chmod 0711'],
  ])('%s %s is named, with causes for a root without capabilities', async (path, _, line) => {
    const [change = '', ...rest] = line.split(' ');
    const folder = `${host.root}${path}`;
    await host.exec('mkdir', '-p', folder);
    await host.exec(change, ...rest, folder);
    if (path.startsWith('/run')) await host.exec('chown', '1000', folder);
    const before = await wholeOf(host);
    const named = new RegExp(`${path} \\(EACCES\\).*owner and mode.*SELinux`);
    await expectRefused(await run('apply'), { named, unsaid: 'read-only', before });
  });

  test('a folder remounted read-only is named, with the file system as possible cause', async () => {
    const before = await wholeOf(host);
    const lock = 'mount -o remount,bind,ro $root/host/etc/netplan';
    const named = /\/etc\/netplan \(EROFS\).*read-only file system of the host/;
    await expectRefused(await run('apply', { before: lock }), { named, unsaid: 'SELinux', before });
  });

  test.each(['/etc/netplan', '/etc/sysctl.d', '/var/lib/multinic', '/usr/lib'])(
    '%s replaced by a file is named, without other causes',
    async (path) => {
      const before = await wholeOf(host);
      const there = `$root/host${path}`;
      const file = `mount -o remount,bind,rw $root; umount ${there}; rmdir ${there}; : > ${there}`;
      const named = new RegExp(`the mount of ${path} \\(ENOTDIR\\)`);
      await expectRefused(await run('apply', { before: file }), { named, unsaid: 'owner', before });
    },
  );
});

describe('Pod volume in place of a host folder', () => {
  test.each([
    ['/var/lib/multinic', 'cleanup', 'empty-dir/state'],
    ['/etc/netplan', 'apply', 'empty-dir/netplan'],
    ['/run/systemd/units', 'check', 'configmap/units'],
  ] as const)(
    'a volume at %s is refused and not mistaken for the host, %s',
    async (path, action, volume) => {
      expect((await run('apply')).result?.outcome).toBe('ok');
      const folder = `/var/lib/kubelet/pods/some-uid/volumes/kubernetes.io~${volume}`;
      await host.exec('mkdir', '-p', host.root + folder);
      const before = await wholeOf(host);
      const line = `mount --bind ${host.root}${folder} $root/host${path}`;
      const named = new RegExp(
        `the mount of ${path} \\(volume kubernetes.io~${volume} is mounted there\\)`,
      );
      await expectRefused(await run(action, { before: line }), { named, before });
    },
  );
});

describe('check without write access', () => {
  const locked = ['/etc/netplan', '/etc/sysctl.d', '/var/lib/multinic', '/proc/sys/net'];
  const lock = locked.map((path) => `mount -o remount,bind,ro $root/host${path}`).join('\n');

  test('a check succeeds without write access and capabilities', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    const before = await wholeOf(host);
    const { result, stderr } = await run('check', { before: lock, capabilities: [] });
    expect(result, stderr).toMatchObject({ outcome: 'ok', nics: [{ reason: 'Configured' }] });
    expect(await wholeOf(host)).toEqual(before);
  });

  test('a check reports drift without write access', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    await host.ip('addr', 'flush', 'dev', 'multinic0');
    const { result, stderr } = await run('check', { before: lock, capabilities: [] });
    expect(result, stderr).toMatchObject({ outcome: 'failed', nics: [{ reason: 'Drifted' }] });
  });

  test('a check is refused if a folder is unreadable', async () => {
    expect((await run('apply')).result?.outcome).toBe('ok');
    await host.exec('chown', '1000', `${host.root}/var/lib/multinic`);
    const before = await wholeOf(host);
    const named = /\/var\/lib\/multinic \(EACCES\)/;
    await expectRefused(await run('check'), { named, before });
  });
});
