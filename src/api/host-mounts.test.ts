import { describe, expect, test } from 'vitest';
import { hostMounts, ifcfgMount } from './host-mounts.ts';
import { type Family, family } from './job.ts';

const writes: Readonly<Record<Family, readonly string[]>> = {
  netplan: ['/etc/netplan'],
  networkd: ['/etc/systemd/network'],
  keyfile: ['/etc/NetworkManager/system-connections', '/etc/systemd/network'],
  ifcfg: [
    '/etc/sysconfig/network-scripts',
    '/etc/systemd/network',
    '/etc/NetworkManager/system-connections',
  ],
};

/** What every host has, or the kubelet makes: a missing folder would keep the Pod from starting. */
const onEveryHost = ['/proc/sys/net', '/usr/lib'];

describe.each(family.options)('the Pod for %s', (name) => {
  const mounts = hostMounts[name];

  test('[RW-06] starts on a host of any family, to say which one that is', () => {
    const required = mounts.filter(({ type }) => type !== 'DirectoryOrCreate');
    expect(required.map(({ path }) => path)).toEqual(onEveryHost);
  });

  test('can write to nothing of the host but what it changes', () => {
    const writable = mounts.filter(({ readOnly }) => !readOnly);
    const everywhere = ['/etc/sysctl.d', '/var/lib/multinic', '/proc/sys/net'];
    expect(writable.map(({ path }) => path).toSorted()).toEqual(
      [...writes[name], ...everywhere].toSorted(),
    );
  });

  test('sees who manages the network, and no socket by which a manager takes orders', () => {
    const paths = mounts.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/run/systemd/netif/links',
        '/run/NetworkManager/devices',
        '/run/systemd/units',
      ]),
    );
    // systemd has private, notify and journal/socket; networkd 257 has netif/io.systemd.Network; NetworkManager had private.
    const withSockets = ['/run', '/run/systemd', '/run/systemd/netif', '/run/NetworkManager'];
    expect(paths.filter((path) => withSockets.includes(path))).toEqual([]);
  });

  test('[RW-06] names each volume once, and makes no folder of another manager that outlives the boot', () => {
    expect(new Set(mounts.map((mount) => mount.name)).size).toBe(mounts.length);
    expect(new Set(mounts.map(({ path }) => path)).size).toBe(mounts.length);
    const lasting = mounts.flatMap(({ type, path }) =>
      type === 'DirectoryOrCreate' && !path.startsWith('/run/') ? [path] : [],
    );
    // The package of udev has the folder of its rules.
    const others = ['/etc/sysctl.d', '/etc/udev/rules.d', '/var/lib/multinic'];
    expect(lasting.toSorted()).toEqual([...writes[name], ...others].toSorted());
  });
});

test('profiles of the other kind, which an earlier generation may have written, can be taken away', () => {
  expect(ifcfgMount).toMatchObject({ path: '/etc/sysconfig/network-scripts', readOnly: false });
});
