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

/** Paths that exist on every host or are created by kubelet: a missing folder would prevent the Pod's start. */
const onEveryHost = ['/proc/sys/net', '/usr/lib'];

describe.each(family.options)('agent Pod for %s', (name) => {
  const mounts = hostMounts[name];

  test('[RW-06] the agent Pod starts on a host with any network manager, to report which one is in use', () => {
    const required = mounts.filter(({ type }) => type !== 'DirectoryOrCreate');
    expect(required.map(({ path }) => path)).toEqual(onEveryHost);
  });

  test('the agent Pod has write access only to paths that the agent changes', () => {
    const writable = mounts.filter(({ readOnly }) => !readOnly);
    const everywhere = ['/etc/sysctl.d', '/var/lib/multinic', '/proc/sys/net'];
    expect(writable.map(({ path }) => path).toSorted()).toEqual(
      [...writes[name], ...everywhere].toSorted(),
    );
  });

  test('the agent Pod sees evidence for the network manager, but no control sockets', () => {
    const paths = mounts.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/run/systemd/netif/links',
        '/run/NetworkManager/devices',
        '/run/systemd/units',
      ]),
    );
    // Sockets: systemd has private, notify and journal/socket; networkd 257 has netif/io.systemd.Network;
    // NetworkManager had private.
    const withSockets = ['/run', '/run/systemd', '/run/systemd/netif', '/run/NetworkManager'];
    expect(paths.filter((path) => withSockets.includes(path))).toEqual([]);
  });

  test('[RW-06] the agent Pod mounts each path once and creates no lasting folders for unused network managers', () => {
    expect(new Set(mounts.map((mount) => mount.name)).size).toBe(mounts.length);
    expect(new Set(mounts.map(({ path }) => path)).size).toBe(mounts.length);
    const lasting = mounts.flatMap(({ type, path }) =>
      type === 'DirectoryOrCreate' && !path.startsWith('/run/') ? [path] : [],
    );
    // The udev package owns its rules folder.
    const others = ['/etc/sysctl.d', '/etc/udev/rules.d', '/var/lib/multinic'];
    expect(lasting.toSorted()).toEqual([...writes[name], ...others].toSorted());
  });
});

test('ifcfg profiles from an earlier generation can be removed by agents for other network managers', () => {
  expect(ifcfgMount).toMatchObject({ path: '/etc/sysconfig/network-scripts', readOnly: false });
});
