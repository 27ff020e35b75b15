import { expect, test } from 'vitest';
import { address, host, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { linkOf } from '../identity.ts';
import type { Ip } from '../ip-session.ts';
import { presentState } from '../planning/nic-state.ts';
import type { Address, KernelSnapshot } from '../snapshot.ts';
import type { Context } from './context.ts';
import { settle } from './settle.ts';

const cidr = 'fd00::1/64';
const nic = {
  mac: macOf(1),
  belongings: { tables: [100], ips: ['fd00::1'], routes: [], rules: [] },
};

function kernel(probe?: Address['probe'], noCarrier = false): KernelSnapshot {
  const more = { name: 'multinic0', up: true, ...(noCarrier ? { noCarrier: true as const } : {}) };
  const addresses = [address('multinic0', cidr, probe ? { probe } : {})];
  return { ...host([link(1, more)], { addresses }), settings: new Map(), defaultSettings: {} };
}

const probing = 'going on';
const unplugged = kernel(probing, true);

/** `seen`: what the kernel shows, one snapshot after the other; the last one stays. */
test.each<[string, readonly KernelSnapshot[], object]>([
  ['none comes', [unplugged], { wrong: [], duplicate: [] }],
  [
    'it comes, and nobody has the address',
    [unplugged, kernel(probing), kernel(probing), kernel()],
    { wrong: [], duplicate: [] },
  ],
  [
    'it comes, and another host has the address',
    [unplugged, kernel(probing), kernel('failed')],
    { duplicate: [cidr] },
  ],
  [
    'it goes in the middle of the probe',
    [kernel(probing), kernel(probing), unplugged],
    { wrong: [], duplicate: [] },
  ],
  ['another host had the address before it went', [kernel('failed', true)], { duplicate: [cidr] }],
])('an address of IPv6 without a carrier is as good as it gets: %s', async (_, seen, expected) => {
  const left = [...seen];
  const ip: Ip = {
    run: async () => ({
      seen: left.length > 1 ? (left.shift() as KernelSnapshot) : (left[0] as KernelSnapshot),
    }),
  };
  let elapsedMs = 0;
  const sleep = async (ms: number) => {
    elapsedMs += ms;
  };
  const clock = { monotonicMs: () => elapsedMs, sleep };
  const context = {
    ip,
    ipv6: true,
    clock,
    macs: new Set([nic.mac]),
    protectedAddresses: [],
    hostRoot: '/nowhere',
    sysctls: '/nowhere',
  };
  const goal = {
    nic,
    want: presentState(kernel(), linkOf(kernel(), nic.mac), nic.belongings),
    plugged: true,
  };
  // The NIC was renamed and udev is still to react, so the snapshots go on after the first that is right.
  const result = await settle([goal], context as unknown as Context, { renamedFrom: ['ens1'] });
  const found = { wrong: [...result.wrong.values()], duplicate: [...result.duplicate.values()] };
  expect(found).toMatchObject(expected);
});
