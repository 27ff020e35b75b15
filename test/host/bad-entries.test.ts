import { afterEach, describe, expect, test } from 'vitest';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import { family as families, type NicReason, type RequestInterface } from '../../src/api/job.ts';
import { macOf, request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { createFamilyHost, filesOfOurs } from './family-host.ts';
import { stateOf, without } from './host-state.ts';

let host: NamespaceHost;
afterEach(() => host.down());

/** Entries with the expected refusal. */
const refused: readonly (readonly [entry: RequestInterface, reason: NicReason, words: RegExp])[] = [
  [nic(1, primary.mac, '10.1.0.1/24'), 'PrimaryNIC', /has the node's address/],
  [nic(2, macOf(2), `${primary.address}/32`), 'InvalidEntry', /is already on eth0/],
  [
    nic(3, macOf(3), '10.3.0.1/24', { routing: 'main', routes: [{ to: '0.0.0.0/0' }] }),
    'InvalidEntry',
    /the prefix must be at least/,
  ],
  [
    nic(4, macOf(4), 'fd04::1/64', { routing: 'main', routes: [{ to: '::/0', via: 'fd04::fe' }] }),
    'InvalidEntry',
    /the prefix must be at least/,
  ],
  [nic(5, macOf(5), '10.5.0.1/24'), 'DuplicateMAC', /twin/],
  [nic(6, macOf(6), '10.6.0.1/24'), 'NICInUse', /is a member of br6/],
  [nic(7, macOf(7), '10.7.0.1/24'), 'NICInUse', /ens7 is the parent link of over7/],
  [nic(8, macOf(8), '10.8.0.1/24'), 'NICInUse', /multinic8 is in use by the link with MAC/],
  [nic(9, macOf(9), '10.9.0.1/24'), 'NICInUse', /multinic9 is in use by the link with MAC/],
];
const good = nic(0, macOf(10), '10.10.0.1/24', { mtu: 68 });

/** Commands for a twin, a bridge with a NIC's MAC, a macvlan with the same MAC, and occupied names. */
const commands = [
  `link set dev twin address ${macOf(5)}`,
  'link add br6 type bridge',
  `link set dev br6 address ${macOf(6)}`,
  'link set dev ens6 master br6',
  'link add link ens7 name over7 type macvlan mode passthru',
  'link property add dev storage altname multinic8',
];

test.each(families.options)(
  'harmful entries are refused, each for its own reason, and the good entry is configured: %s',
  async (family) => {
    const nics = [2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => [`ens${n}`, macOf(n)] as const);
    const theirs = { twin: macOf(91), storage: macOf(92), multinic9: macOf(93) };
    host = await createFamilyHost('harmful', family, { ...Object.fromEntries(nics), ...theirs });
    for (const command of commands) await host.ip(...command.split(' '));
    const ours = ['"ens10"', '"multinic0"', '10.10.0.', macOf(10)];
    const before = without(await stateOf(host), ...ours);
    const entries = [good, ...refused.map(([entry]) => entry)];
    const { result, stderr } = await runAgent(host, request(entries, { protocol: 3, family }));
    expect(result?.nics, stderr).toMatchObject([
      { name: 'multinic0', reason: 'Configured' },
      ...refused.map(([{ index }, reason, words]) => ({
        index,
        reason,
        message: expect.stringMatching(words) as string,
      })),
    ]);
    expect(without(await stateOf(host), ...ours, '90-multinic0')).toEqual(before);
    const names = Object.keys(await filesOfOurs(host)).join(' ');
    expect(names).not.toMatch(/multinic[1-9]/);
    expect(names).toContain('multinic0');
  },
);

describe('requests refused as a whole', () => {
  const one = nic(0, macOf(1), '10.0.0.1/24');
  test.each<[string, readonly object[], RegExp]>([
    ['with eleven NICs', Array.from({ length: 11 }, () => one), /interfaces/],
    ['with index 10', [{ ...one, index: 10 }], /interfaces\.0\.index/],
    ['with MTU 67', [{ ...one, mtu: 67 }], /interfaces\.0\.mtu/],
    ['with MTU 65536', [{ ...one, mtu: 65_536 }], /interfaces\.0\.mtu/],
    ['with an invalid address', [{ ...one, addresses: ['10.0.0.300/24'] }], /addresses/],
    ['with an invalid MAC', [{ ...one, mac: 'fa-16-3e' }], /interfaces\.0\.mac/],
  ])('a request %s is refused as a whole and changes nothing', async (_, interfaces, words) => {
    host = await createHost('whole', { nics: { ens1: macOf(1) } });
    const before = await stateOf(host);
    const { code, result, effects } = await runAgent(
      host,
      JSON.stringify({ ...request([]), interfaces }),
      { traced: true },
    );
    expect(code).toBe(1);
    expect(result?.refusal).toMatchObject({
      reason: 'InvalidRequest',
      message: expect.stringMatching(words) as string,
    });
    expect(effects).toHaveLength(2);
    expect(await stateOf(host)).toEqual(before);
  });
});
