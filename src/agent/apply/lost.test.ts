import { describe, expect, test } from 'vitest';
import { address, host, link, macOf, route } from '../../../test/fixtures/agent-samples.ts';
import { lostByNode } from './lost.ts';

const before = host([link(1, { name: 'multinic0' })], {
  addresses: [address('multinic0', '10.0.0.1/24')],
  routes: [route('10.9.0.0/16', 'eth0')],
});
const ours = new Set([macOf(1)]);

describe('lostByNode', () => {
  test('lostByNode reports a lost default route', () => {
    const routes = before.routes.filter(({ to }) => to !== '0.0.0.0/0');
    expect(lostByNode(before, { ...before, routes }, ours)).toBe(
      'route 0.0.0.0/0 via 10.200.0.254 dev eth0',
    );
  });

  test('lostByNode reports a lost address on the primary NIC', () => {
    const addresses = before.addresses.filter(({ link: name }) => name !== 'eth0');
    expect(lostByNode(before, { ...before, addresses }, ours)).toBe(
      'address 10.200.0.2/16 of eth0',
    );
  });

  test('lostByNode ignores kernel-made link-local addresses', () => {
    const own = address('eth0', 'fe80::2/64', { scope: 253 });
    const had = { ...before, addresses: [...before.addresses, own] };
    expect(lostByNode(had, before, ours)).toBeUndefined();
  });

  test("lostByNode reports a default route on a bridge with a managed NIC's MAC", () => {
    const bridge = link(7, { name: 'br-ex', kind: 'bridge', mac: macOf(1) });
    const defaultRoute = route('0.0.0.0/0', 'br-ex', { metric: 9 });
    const had = {
      ...before,
      links: [...before.links, bridge],
      routes: [...before.routes, defaultRoute],
    };
    const has = { ...had, routes: before.routes };
    expect(lostByNode(had, has, ours)).toBe('route 0.0.0.0/0 dev br-ex');
  });

  test('lostByNode ignores additions and changes to managed NICs', () => {
    const more = {
      ...before,
      routes: [...before.routes, route('0.0.0.0/0', 'eth0', { metric: 9 })],
    };
    expect(lostByNode(before, more, ours)).toBeUndefined();
    const addresses = before.addresses.filter(({ link: name }) => name === 'eth0');
    expect(lostByNode(before, { ...before, addresses }, ours)).toBeUndefined();
  });
});
