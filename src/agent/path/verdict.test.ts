import { describe, expect, it } from 'vitest';
import {
  address,
  entry,
  host,
  link,
  neighbour,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Answer } from './ip.ts';
import type { NodeLookup, PathNic } from './lookups.ts';
import { readPolicyRule } from './rules.ts';
import { familiesToExplain, type PathInput, verdictsOn } from './verdict.ts';

const from = '10.0.0.1';
const to = '198.51.100.1';
const nicLink = link(1, { name: 'multinic0', up: true });
const nic: PathNic = { entry: entry(1), link: nicLink, table: 100 };
const { mac } = nic.entry;

const addresses = [address('multinic0', '10.0.0.1/24')];
const local = (ip: string, name = 'multinic0') =>
  route(`${ip}/32`, name, { type: 2, table: 255, protocol: 2 });
const ours = [
  route('10.0.0.0/24', 'multinic0', { table: 100 }),
  route('0.0.0.0/0', 'multinic0', { table: 100, via: '10.0.0.254' }),
];

const kernel = (more: Partial<Snapshot> = {}) =>
  host([nicLink], {
    addresses,
    ...more,
    routes: [...ours, local('127.0.0.1', 'lo'), local(from), ...(more.routes ?? [])],
  });

const rule = (priority: number, more: object) => ({ priority, src: 'all', protocol: '0', ...more });
const usual = [
  rule(0, { table: '255' }),
  rule(10_100, { src: from, table: '100' }),
  rule(32_766, { table: '254' }),
];
const byEth0: Answer = { kind: 'link', link: 'eth0', table: 254 };
const byNic: Answer = { kind: 'link', link: 'multinic0', table: 100 };
const dropped: Answer = { kind: 'refused', why: 'unreachable' };

/** Returns the input for one lookup from the NIC. */
function input(answer: Answer | undefined, more: Partial<PathInput> = {}): PathInput {
  return {
    nics: [nic],
    host: kernel(),
    fromNics: [{ from, to, nic }],
    fromNode: [],
    found: { answers: [answer], silent: [] },
    rules: new Map([[4, usual.map(readPolicyRule)]]),
    all: {},
    ...more,
  };
}

const withRules = (...rules: readonly object[]) => ({
  rules: new Map([[4 as const, [...rules, ...usual].map(readPolicyRule)]]),
});

const verdict = (answer: Answer | undefined, more: Partial<PathInput> = {}) =>
  verdictsOn(input(answer, more)).failed.get(mac);

describe('lookup from an address', () => {
  it.each<[string, Answer | undefined]>([
    ['the NIC', byNic],
    ['the host itself', { kind: 'local' }],
    ['unknown', undefined],
  ])('is right when the answer is %s', (_, answer) => {
    expect(verdict(answer)).toBeUndefined();
    expect(familiesToExplain(input(answer))).toEqual([]);
  });

  it('is right when ip could not run', () => {
    expect(verdict(byEth0, { found: undefined })).toBeUndefined();
  });

  it('is no verdict when the rules are unknown', () => {
    expect(familiesToExplain(input(byEth0))).toEqual([4]);
    expect(verdict(byEth0, { rules: new Map() })).toBeUndefined();
  });

  it.each<[string, object, Answer, string]>([
    ['to main', { table: '254' }, byEth0, 'rule 9000 from all lookup 254 sends packets'],
    ['not marked', { not: null, fwmark: '0x1', table: '254' }, byEth0, 'rule 9000 not from all'],
    ['unreachable', { src: from, action: '7' }, dropped, `rule 9000 from ${from} drops packets`],
    ['source network', { src: '10.0.0.0', srclen: 8, table: '254' }, byEth0, 'rule 9000 from 10.0'],
    ['target network', { dst: to, table: '254' }, byEth0, `rule 9000 from all to ${to}/32 lookup`],
    ['incoming link lo', { iif: 'lo', table: '254' }, byEth0, 'rule 9000 from all iif lo lookup'],
    ['goto', { goto: 32_766 }, byEth0, 'rule 32766 from all lookup 254 sends packets'],
  ])('names the deciding rule (%s)', (_, first, answer, message) => {
    const found = verdict(answer, withRules(rule(9_000, first)));
    expect(found?.reason).toBe('PathBypassed');
    expect(found?.message).toContain(message);
    expect(found?.args.length).toBeLessThanOrEqual(60);
  });

  it.each([
    ['mark 0 in part', { fwmark: '0', fwmask: '0xff', table: '254' }],
    ['user 0', { uid_start: 0, uid_end: 0, table: '254' }],
    ['protocol UDP', { ipproto: 'ipproto-17', table: '254' }],
    ['all but some users', { not: null, uid_start: 5, uid_end: 9, table: '254' }],
    ['all but a port', { not: null, dport: 53, table: '254' }],
  ])('is no bypass when a rule for %s decides', (_, first) => {
    expect(verdict(byEth0, withRules(rule(9_000, first)))).toBeUndefined();
  });

  it.each([
    ['suppresses default routes', { table: '254', suppress_prefixlen: 0 }],
    ['finds no route', { table: '77' }],
    ['does nothing', { nop: null }],
    ['goes to a missing rule', { goto: 20_000 }],
    ['is about a VRF', { l3mdev: null }],
    ['is about an outgoing link', { oif: 'eth0', table: '254' }],
    ['is about a marked packet', { fwmark: '0x1', table: '254' }],
  ])('passes a rule (%s)', (_, first) => {
    const found = verdict(byEth0, withRules(rule(9_000, first), rule(9_001, { table: '254' })));
    expect(found?.message).toContain('rule 9001 ');
  });

  it('passes throw routes', () => {
    const routes = [route('198.51.0.0/16', undefined, { table: 77, type: 9 })];
    const rules = withRules(rule(9_000, { table: '77' }), rule(9_001, { table: '254' }));
    const found = verdict(byEth0, { ...rules, host: kernel({ routes }) });
    expect(found?.message).toContain('rule 9001 ');
  });

  it.each<[string, number, boolean]>([
    ['a suppressed unicast default route', 1, false],
    ['a blackhole default route, which the kernel never suppresses', 6, true],
    ['an unreachable default route', 7, true],
    ['a prohibit default route', 8, true],
  ])('a rule with suppress_prefixlength and %s', (_, type, isDecided) => {
    const routes = [route('0.0.0.0/0', type === 1 ? 'eth0' : undefined, { table: 200, type })];
    const rules = withRules(rule(9_000, { table: '200', suppress_prefixlen: 16 }));
    const answer: Answer = isDecided ? { kind: 'refused', why: 'blackhole' } : byEth0;
    const found = verdict(answer, { ...rules, host: kernel({ routes }) });
    expect(found?.message?.includes('rule 9000 ')).toBe(isDecided);
  });

  it('names no rule when the NIC rule decides', () => {
    const routes = [route('198.51.100.0/24', 'eth0', { table: 100 })];
    const answer: Answer = { kind: 'link', link: 'eth0', table: 100 };
    expect(verdict(answer, { host: kernel({ routes }) })).toMatchObject({
      reason: 'PathBypassed',
      code: 'RouteToOtherLink',
      message: `a route in table 100 sends packets from ${from} to ${to} by eth0`,
    });
    expect(
      verdict({ kind: 'refused', why: 'no route' }, { host: kernel({ routes }) }),
    ).toMatchObject({
      code: 'NoRouteFromAddress',
      message: `no path from ${from} to ${to} (no route)`,
    });
  });
});

/** Returns the verdicts when the NIC has the path to a destination. */
const ask = (lookup: NodeLookup, more: Partial<PathInput> = {}) =>
  verdictsOn(
    input(byNic, {
      fromNics: [],
      fromNode: [lookup],
      found: { answers: [{ kind: 'link', link: 'multinic0', table: 254 }], silent: [] },
      ...more,
    }),
  );

describe('lookup for the node', () => {
  it('fails the NIC for the Service address', () => {
    const found = ask({ to: '10.96.0.1', purpose: 'service' });
    expect(found.failed.get(mac)).toMatchObject({ reason: 'NodePathTaken', code: 'ServiceByNic' });
  });

  it.each<[NodeLookup['purpose'], string]>([
    ['endpoint', 'EndpointByNic'],
    ['default gateway', 'GatewayByNic'],
  ])('fails the NIC for the %s only when the path was by the node before', (purpose, code) => {
    const lookup = { to: '10.0.0.7', purpose };
    const found = ask(lookup, { ownBefore: new Set(['10.0.0.7']) });
    expect(found.failed.get(mac)).toMatchObject({ reason: 'NodePathTaken', code });
    for (const ownBefore of [new Set<string>(), undefined]) {
      const later = ask(lookup, { ownBefore });
      expect(later.failed.size).toBe(0);
      expect(later.warnings).toEqual(["NodePathTaken multinic0 has the node's path to 10.0.0.7"]);
    }
  });

  it('is no verdict when a rule for some packets decides', () => {
    const lookup = { to: '10.96.0.1', purpose: 'service' } as const;
    const rules = withRules(rule(9_000, { uid_start: 0, uid_end: 0, table: '100' }));
    expect(ask(lookup, rules).failed.size).toBe(0);
  });
});

describe('NIC without answers', () => {
  it.each<[string, Partial<PathInput>, string]>([
    ['NOARP', { nics: [{ ...nic, link: { ...nicLink, noArp: true } }] }, 'ArpOff'],
    ['arp_ignore of all links', { all: { arpIgnore: '8' } }, 'ArpIgnored'],
    [
      'arp_ignore of the link',
      { host: kernel({ settings: new Map([['multinic0', { 'ipv4.arp_ignore': '8' }]]) }) },
      'ArpIgnored',
    ],
    [
      'a missing local entry',
      { host: host([nicLink], { addresses, routes: [...ours, local('127.0.0.1', 'lo')] }) },
      'LocalEntryMissing',
    ],
  ])('fails for %s', (_, more, code) => {
    expect(verdict(byNic, more)).toMatchObject({ reason: 'VerifyFailed', code });
  });

  it('passes without a readable local table, without carrier and without IPv4', () => {
    const empty = host([nicLink], { addresses, routes: ours });
    expect(verdict(byNic, { host: empty })).toBeUndefined();
    const quiet = { ...nic, link: { ...nicLink, noCarrier: true as const } };
    const lost = host([nicLink], { addresses, routes: [local('127.0.0.1', 'lo')] });
    expect(verdict(byNic, { nics: [quiet], host: lost })).toBeUndefined();
    const six = { ...nic, entry: entry(1, { addresses: ['fd00::5/64'] }) };
    expect(verdict(byNic, { nics: [six], all: { arpIgnore: '8' } })).toBeUndefined();
  });
});

describe('warnings', () => {
  it('name a pinned and a silent gateway, and a strict reverse path filter', () => {
    const pinned = kernel({
      neighbours: [neighbour('multinic0', '10.0.0.254'), neighbour('eth0', '10.0.0.254')],
    });
    const silent = [
      { ip: '10.0.0.254', link: 'multinic0' },
      { ip: '10.0.0.9', link: 'multinic0' },
    ];
    const { warnings, failed } = verdictsOn(
      input(byNic, { host: pinned, found: { answers: [byNic], silent }, all: { rpFilter: '1' } }),
    );
    expect(failed.size).toBe(0);
    expect(warnings).toEqual([
      'GatewayPinned multinic0 10.0.0.254 is permanently 02:00:00:00:00:77',
      'GatewaySilent multinic0 10.0.0.254 does not answer',
      expect.stringMatching(/^StrictReversePath multinic0 /),
    ]);
  });

  it('are absent when the link has a loose reverse path filter', () => {
    const settings = new Map([['multinic0', { 'ipv4.rp_filter': '2' }]]);
    const loose = input(byNic, { host: kernel({ settings }), all: { rpFilter: '1' } });
    expect(verdictsOn(loose).warnings).toEqual([]);
  });
});
