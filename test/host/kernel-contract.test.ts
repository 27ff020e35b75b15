import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import type { KernelDump } from '../../src/agent/ip/kernel.ts';
import { type Ip, IpSession } from '../../src/agent/ip/session.ts';
import { ModelHost } from '../property/model-host.ts';

const mac = '02:00:00:00:01:05';

let host: NamespaceHost;
afterEach(() => host.down());

/** State the agent relies on, comparable between model and kernel. */
function pictureOf({ links, addresses, routes, rules }: KernelDump) {
  const nic = links.find((link) => link.mac === mac);
  const own = addresses.filter(({ link }) => link === nic?.name);
  return {
    nic: nic && [nic.name, nic.mtu, nic.up, nic.addressMode ?? 'none at all', nic.altNames],
    addresses: own
      .filter(({ family }) => family === 4)
      .map(({ cidr, noPrefixRoute, temporary = false }) => [cidr, noPrefixRoute, temporary]),
    linkLocal: own.filter(({ family, scope }) => family === 6 && scope === 253).length,
    routes: routes
      .filter(
        ({ links: by, family, table }) =>
          by.includes(nic?.name ?? '') && family === 4 && table !== 255,
      )
      .map(({ to, table, protocol, src = '', metric }) =>
        [to, table, protocol, src, metric].join(' '),
      )
      .toSorted(),
    rules: rules.map(({ from, priority, table }) => `${priority} ${from} ${table}`).toSorted(),
  };
}

/** Returns whether the line succeeded, and the state afterwards. */
async function outcomeOf(ip: Ip, line: string) {
  const answer = await ip.run([line]);
  return { line, done: 'seen' in answer, ...(await pictureNow(ip)) };
}

async function pictureNow(ip: Ip) {
  const now = await ip.run([]);
  if (!('seen' in now)) throw new Error(now.words);
  return pictureOf(now.seen);
}

async function insideIp(): Promise<string> {
  const path = join(host.root, 'ip-inside');
  await writeFile(path, `#!/bin/sh\nexec nsenter --net=/run/netns/${host.netns} -- ip "$@"\n`);
  await chmod(path, 0o755);
  return path;
}

const route = (to: string, src: string) =>
  `route replace ${to} dev multinic0 src ${src} table 100 proto 4 scope 253 metric 100`;

describe('kernel model compared with the real kernel', () => {
  test.each<[string, readonly string[]]>([
    [
      "with names: another link's, the link's own alternative name, an absent link",
      [
        'link set dev ens5 name eth0',
        'link set dev ens5 name multinic0',
        'link set dev multinic0 up',
        'link set dev multinic0 name ens7',
        'link property del dev ens7 altname ens5',
        'link set dev nowhere up',
      ],
    ],
    [
      'with an MTU below the IPv6 minimum, and back',
      [
        'link set dev ens5 up',
        'link set dev ens5 mtu 1279',
        'link set dev ens5 addrgenmode none',
        'link set dev ens5 mtu 1280',
        'link set dev ens5 addrgenmode none',
        'link set dev ens5 down',
        'link set dev ens5 up',
      ],
    ],
    [
      'with addresses, their routes, and dependent deletions',
      [
        'link set dev ens5 name multinic0',
        'addr replace 10.0.0.11/24 broadcast 10.0.0.255 dev multinic0',
        'addr replace 10.0.0.12/24 broadcast 10.0.0.255 dev multinic0',
        'addr replace 10.1.0.11/24 noprefixroute dev multinic0',
        route('10.0.0.0/24', '10.0.0.11'),
        'link set dev multinic0 up',
        route('10.0.0.0/24', '10.0.0.11'),
        route('10.0.0.0/24', '10.0.0.12'),
        route('10.9.0.0/24', '10.0.0.99'),
        'addr del 10.0.0.12/24 dev multinic0',
        'addr del 10.0.0.12/24 dev multinic0',
        'link set dev multinic0 down',
        'link set dev multinic0 up',
        'addr del 10.0.0.11/24 dev multinic0',
      ],
    ],
    [
      'with present, duplicate and absent rules',
      [
        'rule add from 10.0.0.11/32 table 100 priority 10100 protocol 4',
        'rule add from 10.0.0.11/32 table 100 priority 10100 protocol 4',
        'rule del from 10.0.0.11/32 table 100 priority 10100',
        'rule del from 10.0.0.11/32 table 100 priority 10100 protocol 4',
      ],
    ],
  ])('the kernel model behaves like the kernel %s', async (_, lines) => {
    host = await createHost('contract', { nics: { ens5: mac } });
    await host.exec('sh', '-c', 'echo 0 >/proc/sys/net/ipv4/conf/all/promote_secondaries');
    using real = new IpSession(await insideIp());
    const start = await real.run([]);
    if (!('seen' in start)) throw new Error(start.words);
    const settings = new Map(
      start.seen.links.map(({ name }) => [name, { 'ipv6.accept_ra': '1' }] as const),
    );
    using model = await ModelHost.of({
      ...start.seen,
      settings,
      defaultSettings: {},
      files: [],
      held: [],
    });
    for (const line of lines) {
      const expected = await outcomeOf(model, line);
      const { done } = await outcomeOf(real, line);
      // The kernel makes link-local addresses when the carrier comes, on a busy machine after the command.
      await vi.waitFor(
        async () => expect({ line, done, ...(await pictureNow(real)) }).toEqual(expected),
        5_000,
      );
    }
  });
});
