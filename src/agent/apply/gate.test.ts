import { describe, expect, it } from 'vitest';
import { address, host, link, macOf, route } from '../../../test/fixtures/agent-samples.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { changeNics, whyUntouchable } from './gate.ts';

const nic = {
  mac: macOf(1),
  belongings: { tables: [100], ips: ['10.0.0.1'], routes: [], rules: [] },
};
const context = { protectedAddresses: ['10.200.0.2'] } as unknown as Context;

/** Returns the gate's answer for NIC 1 on a node with this kernel state. */
function answer(
  more: Partial<Snapshot>,
  nic1: Parameters<typeof link>[1] = {},
  others = [link(3)],
) {
  const seen = host([link(1, { name: 'multinic0', up: true, ...nic1 }), ...others], more);
  return whyUntouchable(nic, seen, context)?.reason ?? 'free';
}

const lease = { temporary: true } as const;

describe('the gate for kernel changes', () => {
  it.each<[string, string, string]>([
    [
      'its own address and routes',
      'free',
      answer({ addresses: [address('multinic0', '10.0.0.1/24')] }),
    ],
    ['no link', 'free', whyUntouchable(nic, host([]), context)?.reason ?? 'free'],
    ['a twin', 'DuplicateMAC', answer({}, {}, [link(3, { mac: macOf(1) })])],
    ['a strange name', 'NICInUse', answer({}, { name: 'a b' })],
    [
      'a Node address',
      'PrimaryNIC',
      answer({ addresses: [address('multinic0', '10.200.0.2/24')] }),
    ],
    [
      'a default route',
      'PrimaryNIC',
      answer({ routes: [route('0.0.0.0/0', 'multinic0', { via: '10.0.0.9', metric: 50 })] }),
    ],
    [
      'a lease',
      'LeasedByHost',
      answer({ addresses: [address('multinic0', '10.0.0.7/24', lease)] }),
    ],
    [
      'a DHCP route',
      'LeasedByHost',
      answer({ routes: [route('10.9.0.0/16', 'multinic0', { protocol: 16 })] }),
    ],
    ['a bridge above', 'NICInUse', answer({}, { master: 'br0' })],
    [
      'a macvlan above',
      'NICInUse',
      answer({}, {}, [link(3, { kind: 'macvlan', lower: 'multinic0' })]),
    ],
    ['a foreign address', 'NICInUse', answer({ addresses: [address('multinic0', '10.0.0.9/24')] })],
    ['a foreign route', 'NICInUse', answer({ routes: [route('10.9.0.0/16', 'multinic0')] })],
    [
      'only rules to change',
      'free',
      whyUntouchable({ ...nic, rulesOnly: true }, host([link(1, { master: 'br0' })]), context)
        ?.reason ?? 'free',
    ],
  ])('a link with %s is %s', (_, expected, reason) => {
    expect(reason).toBe(expected);
  });
});

/** Returns a kernel with NIC 1 under this name, and a second link named ens1. */
const kernel = (name: string, twin = false) => ({
  ...host([link(1, { name }), link(2, { name: 'ens1', ...(twin ? { mac: macOf(1) } : {}) })]),
  settings: new Map(),
});

describe('changeNics', () => {
  const rename = { kind: 'link.rename', dev: 'ens1', to: 'multinic0' } as const;

  it.each([
    ['the name belongs to a foreign link', kernel('eth9'), /now named eth9, no longer ens1/],
    ['a bridge took the NIC', host([link(1, { master: 'br0' })]), /br0/],
    ['the link is gone', host([link(2, { name: 'ens1' })]), /./],
    ['the NIC has a twin', kernel('eth9', true), /have the same MAC/],
  ])('changeNics runs no command when %s', async (_, seen, message) => {
    const lines: string[] = [];
    const run = async (more: readonly string[]) => {
      lines.push(...more);
      return { seen };
    };
    const changes = new Map([[{ nic }, { sysctls: [], operations: [rename] }]]);
    const { failures } = await changeNics(changes, seen, {
      ...context,
      ip: { run },
      perform: async (_name: string, write: () => unknown) => write(),
      macs: new Set([macOf(1)]),
    } as unknown as Context);
    expect([...failures.values()].map((failure) => failure.message)).toEqual([
      expect.stringMatching(message),
    ]);
    expect(lines).toEqual([]);
  });
});
