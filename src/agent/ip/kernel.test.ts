import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { batchLine } from '../planning/operation.ts';
import { JsonLines } from './json-elements.ts';
import { type KernelDump, KernelReader, questions } from './kernel.ts';

const directory = join(import.meta.dirname, 'recordings');
const names = readdirSync(directory).filter((name) => name.endsWith('.txt'));

function dumpOf(answers: string): KernelDump | undefined {
  const reader = new KernelReader();
  let question = 0;
  const lines = new JsonLines(
    (text) => reader.add(question, text),
    () => {
      question++;
    },
  );
  lines.push(answers);
  return reader.end();
}

function recorded(name: string): KernelDump {
  const state = dumpOf(readFileSync(join(directory, name), 'utf8'));
  if (!state) throw new Error(`${name} tells of two names`);
  return state;
}

test.each(names)(
  "[RW-09] the recording %s yields the same state as our image's iproute2 version",
  (name) => {
    expect(recorded(name)).toEqual(recorded('debian-12.txt'));
  },
);

describe('recorded host state', () => {
  const { links, addresses, routes, rules, neighbours } = recorded('debian-12.txt');
  const linkOf = (name: string) => links.find((link) => link.name === name);
  const addressOf = (cidr: string) => addresses.find((each) => each.cidr === cidr);
  const routesTo = (to: string) => routes.filter((route) => route.to === to && route.table !== 255);

  test('links have alternative names, masters and lower links', () => {
    expect(linkOf('multinic0')).toMatchObject({
      mac: '02:00:00:00:01:05',
      altNames: ['ens5', 'enp0s5'],
      mtu: 1450,
      up: true,
      kind: 'veth',
      addressMode: 'none',
    });
    expect(linkOf('multinic0')).not.toHaveProperty('lower');
    expect(linkOf('mac6')).toMatchObject({ lower: 'ens6', kind: 'macvlan' });
    expect(linkOf('far2')).toMatchObject({ master: 'br0' });
    // The MTU is too small for IPv6.
    expect(linkOf('ens6')).not.toHaveProperty('addressMode');
  });

  test('addresses are marked as leased, without a route, or opaque', () => {
    expect(addressOf('10.200.0.2/16')).toMatchObject({
      link: 'eth0',
      temporary: true,
      opaque: false,
    });
    expect(addressOf('10.0.0.11/16')).toMatchObject({
      broadcast: '10.0.255.255',
      noPrefixRoute: false,
    });
    expect(addressOf('10.0.0.12/16')).toMatchObject({ noPrefixRoute: true });
    expect(addressOf('10.9.0.1/32')).toMatchObject({ opaque: true });
    expect(addressOf('10.8.0.1/24')).toMatchObject({ opaque: true });
    expect(addressOf('fe80::5/64')).toMatchObject({ family: 6, scope: 253 });
  });

  test.each([
    ['0.0.0.0/0', { links: ['eth0'], protocol: 16, metric: 100, opaque: false }],
    ['::/0', { family: 6, links: ['eth0'], protocol: 9 }],
    ['10.246.0.0/24', { type: 6, links: [] }],
    ['10.247.0.0/24', { type: 7, links: [] }],
    ['10.60.0.0/24', { links: ['eth0', 'multinic0'], opaque: true }],
    ['10.61.0.0/24', { via: '10.200.0.253', opaque: true }],
    ['10.62.0.0/24', { via: '10.77.0.1', opaque: true }],
    ['10.63.0.0/24', { family: 4, links: ['eth0'], opaque: true }],
    ['10.64.0.0/24', { links: ['eth0'], opaque: true }],
  ])('the recording has the route to %s', (to, expected) => {
    expect(routesTo(to)).toContainEqual(expect.objectContaining(expected));
  });

  test('rules include managed rules, and opaque rules with further selectors', () => {
    const opaque = rules.filter((rule) => rule.opaque).map(({ priority }) => priority);
    expect(opaque).toEqual([50, 60]);
    expect(rules.filter(({ table }) => table === 100)).toEqual([
      { family: 4, priority: 10_100, from: '10.0.0.11/32', table: 100, protocol: 2, opaque: false },
      { family: 4, priority: 10_100, from: '10.0.0.12/32', table: 100, protocol: 4, opaque: false },
    ]);
  });

  test('permanent neighbours can be restored by `ip neigh replace`', () => {
    const lines = neighbours.map((neighbour) =>
      batchLine({ kind: 'neighbour.set', dev: neighbour.link, neighbour }),
    );
    expect(lines.toSorted()).toEqual([
      'neigh replace 10.0.0.77 lladdr 02:00:00:00:00:77 nud permanent dev multinic0',
      'neigh replace 10.0.0.78 lladdr 02:00:00:00:00:78 nud permanent extern_learn dev multinic0',
      'neigh replace fe80::77 lladdr 02:00:00:00:00:77 nud permanent router dev multinic0',
    ]);
    expect(neighbours.some(({ opaque }) => opaque)).toBe(false);
  });
});

/** Dump with these link names in `link show`, and later names in `addr show`. */
function dumpWith(
  links: Readonly<Record<number, string>>,
  later: Readonly<Record<number, string>>,
) {
  const linkShow = Object.entries(links).map(([index, ifname]) => {
    return { ifindex: Number(index), ifname, flags: [], mtu: 1500 };
  });
  const addr_info = [{ family: 'inet', local: '10.0.0.1', prefixlen: 24, scope: '0' }];
  const addressShow = Object.entries(later).map(([index, ifname]) => {
    return { ifindex: Number(index), ifname, addr_info };
  });
  const answers = [linkShow, [], [], [], addressShow].map(
    (answer) => `${JSON.stringify(answer)}\n`,
  );
  return dumpOf(answers.join(''));
}

describe('links changing during a read', () => {
  test('a read is discarded if a link was renamed', () => {
    expect(dumpWith({ 5: 'ens5' }, { 5: 'multinic0' })).toBeUndefined();
  });

  test('a read is discarded if a name moved to another link', () => {
    expect(dumpWith({ 5: 'ens5' }, { 6: 'ens5' })).toBeUndefined();
  });

  test('a read ignores a link added meanwhile, with its addresses', () => {
    expect(dumpWith({ 5: 'ens5' }, { 5: 'ens5', 6: 'ens6' })).toMatchObject({
      links: [{ name: 'ens5' }],
      addresses: [{ link: 'ens5' }],
    });
  });
});

test('routes and neighbours are read between `link show` and `addr show`', () => {
  const kinds = questions.map((question) => question.split(' ')[0]);
  for (const kind of ['route', 'neigh']) {
    expect(kinds.indexOf(kind)).toBeGreaterThan(kinds.indexOf('link'));
    expect(kinds.indexOf(kind)).toBeLessThan(kinds.indexOf('addr'));
  }
});
