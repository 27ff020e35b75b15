import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ip as runIp } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { commits } from '../rotation.ts';
import type { Finding, Packet } from './path-prober.ts';

const mac = '02:00:00:00:01:05';
const address = '10.0.5.10';
/** Host links by peer name in the fabric. */
const ends = { pnode: 'node0', pnic: 'multinic0', pvpn: 'vpn0' } as const;
const destinations = ['10.0.5.254', '198.51.100.1', '172.16.0.1', '10.96.0.1', '10.201.0.254'];
const frameHead = 42;

/** Payload sizes are powers of two: the sum per link identifies the arrived packets. */
const packets: readonly Packet[] = destinations.flatMap((to, at) => [
  { to, from: address, size: 2 ** (2 * at) },
  { to, size: 2 ** (2 * at + 1) },
]);

const selector = fc.constantFrom(
  'from all',
  `from ${address}`,
  'from 10.0.0.0/8',
  `not from ${address}`,
  'to 198.51.100.0/24',
  'not to 172.16.0.0/12',
  'fwmark 0x1',
  'not fwmark 0x1',
  'fwmark 0x0/0xff',
  'uidrange 0-0',
  'uidrange 1000-2000',
  'not uidrange 1000-2000',
  'ipproto udp',
  'ipproto tcp',
  'not ipproto tcp',
  'dport 53',
  'tos 0x10',
  'iif lo',
  'iif node0',
  'oif multinic0',
);
const action = fc.constantFrom(
  'lookup 254',
  'lookup 100',
  'lookup 200',
  'lookup 201',
  'lookup 254 suppress_prefixlength 0',
  'lookup 200 suppress_prefixlength 16',
  'unreachable',
  'blackhole',
  'prohibit',
  'nop',
  'goto 20000',
  'goto 32766',
);
const rule = fc
  .tuple(fc.integer({ min: 1, max: 19_999 }), selector, action)
  .map(([priority, selects, acts]) => `rule add pref ${priority} ${selects} ${acts}`);
const hop = fc.constantFrom('dev node0', 'dev multinic0', 'dev vpn0');
const route = fc
  .tuple(
    fc.constantFrom('default', '198.51.100.0/24', '198.51.0.0/16', '172.16.0.0/12', '10.96.0.0/12'),
    fc.oneof({ weight: 3, arbitrary: hop }, { weight: 1, arbitrary: fc.constant('') }),
    fc.constantFrom('unreachable', 'blackhole', 'prohibit', 'throw'),
    fc.constantFrom(100, 200, 254),
    fc.integer({ min: 1, max: 9 }),
  )
  .map(([to, by, type, table, metric]) =>
    by
      ? `route add ${to} ${by} table ${table} metric ${metric}`
      : `route add ${type} ${to} table ${table} metric ${metric}`,
  );
const world = fc.record({
  rules: fc.array(rule, { maxLength: 6 }),
  routes: fc.array(route, { maxLength: 4 }),
  isMainGone: fc.boolean(),
  hasTarget: fc.boolean(),
});

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** Returns lines for exactly these rules and routes, from any state. */
function linesFor({ rules, routes, isMainGone, hasTarget }: World): string[] {
  return [
    'rule flush',
    ...[100, 200].map((table) => `route flush table ${table}`),
    'route flush table main',
    'route add 10.0.5.0/24 dev multinic0 src 10.0.5.10',
    'route add 10.201.0.0/24 dev node0 src 10.201.0.2',
    'route add 10.9.0.0/24 dev vpn0 src 10.9.0.2',
    'route add default via 10.201.0.254',
    'route add 10.0.5.0/24 dev multinic0 table 100',
    'route add default via 10.0.5.254 dev multinic0 table 100',
    `rule add from ${address} lookup 100 pref 10100`,
    ...(isMainGone ? [] : ['rule add lookup 254 pref 32766']),
    ...(hasTarget ? ['rule add lookup 200 pref 20000'] : []),
    ...rules,
    ...routes,
  ];
}

/** Plugs three links without ARP and IPv6: only test packets arrive. */
async function plug(host: NamespaceHost): Promise<void> {
  const addresses = { pnode: '10.201.0.2/24', pnic: `${address}/24`, pvpn: '10.9.0.2/24' };
  await host.ip('link', 'del', 'eth0');
  for (const [end, name] of Object.entries(ends)) {
    const own = name === 'multinic0' ? ['address', mac] : [];
    const make = ['link', 'add', end, 'type', 'veth', 'peer', 'name', name, ...own];
    await runIp(['-n', host.fabric, ...make, 'netns', host.netns]);
    await host.exec('sysctl', '-qw', `net.ipv6.conf.${name}.disable_ipv6=1`);
    await runIp(['-n', host.fabric, 'link', 'set', 'dev', end, 'addrgenmode', 'none', 'up']);
    await host.ip('link', 'set', 'dev', name, 'arp', 'off');
    await host.ip('addr', 'add', addresses[end as keyof typeof addresses], 'dev', name);
    await host.ip('link', 'set', 'dev', name, 'up');
  }
}

/** Frames and bytes at the ends of the links, by link. */
async function counters({ fabric }: NamespaceHost) {
  const shown = JSON.parse(await runIp(['-n', fabric, '-s', '-j', 'link', 'show'])) as {
    ifname: string;
    stats64: { rx: { packets: number; bytes: number } };
  }[];
  return new Map(
    shown.flatMap(({ ifname, stats64 }) =>
      ifname in ends ? [[ends[ifname as keyof typeof ends], stats64.rx] as const] : [],
    ),
  );
}

test('lookup and verdict name the link for each arriving packet', async () => {
  const host = await createHost('path-property');
  await plug(host);
  const program = fileURLToPath(new URL('path-prober.ts', import.meta.url));
  const inside = [
    `--net=/run/netns/${host.netns}`,
    '--',
    process.execPath,
    program,
    mac,
    host.root,
  ];
  const prober = spawn('nsenter', inside, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: prober.stdout })[Symbol.asyncIterator]();
  let verdicts = 0;
  try {
    await fc.assert(
      fc.asyncProperty(world, async (set) => {
        // The kernel refuses some lines, such as a duplicate route.
        await host.exec(
          'bash',
          '-c',
          `ip -force -batch - <<'END' 2>/dev/null\n${linesFor(set).join('\n')}\nEND`,
        );
        const before = await counters(host);
        prober.stdin.write(`${JSON.stringify(packets)}\n`);
        const { value } = (await answers.next()) as { value: string };
        const found = JSON.parse(value) as Finding[];
        const after = await counters(host);
        const arrived = arrivals(before, after);
        for (const [at, packet] of packets.entries()) {
          const finding = found[at];
          const words = JSON.stringify({ packet, finding, arrived: arrived[at] });
          expect(finding?.link, words).toBe(arrived[at]);
          expect(finding?.predicted?.includes(arrived[at] ?? '') ?? false, words).toBe(
            arrived[at] !== undefined,
          );
          expectVerdict(packet, finding, arrived[at], words);
          if (finding?.verdict) verdicts++;
        }
      }),
      { numRuns: 300, seed: commits() },
    );
  } finally {
    prober.stdin.end();
    await host.down();
  }
  expect(verdicts).toBeGreaterThan(300);
}, 600_000);

/** Returns the link per packet, by the sum of payloads per link. */
function arrivals(
  before: Awaited<ReturnType<typeof counters>>,
  after: Awaited<ReturnType<typeof counters>>,
): (string | undefined)[] {
  const sums = [...after].map(([link, { packets: count, bytes }]) => {
    const { packets: former = 0, bytes: formerBytes = 0 } = before.get(link) ?? {};
    return [link, bytes - formerBytes - frameHead * (count - former)] as const;
  });
  return packets.map(({ size }) => sums.find(([, sum]) => (sum & size) !== 0)?.[0]);
}

/** A packet from the NIC's address must arrive by the NIC, a packet without source by a node link. */
function expectVerdict(
  { from }: Packet,
  finding: Finding | undefined,
  arrived: string | undefined,
  words: string,
): void {
  const verdict = finding?.verdict;
  const isByNic = arrived === 'multinic0';
  const isWrong = from === undefined ? isByNic : !isByNic;
  if (!isWrong || finding?.isPartial) expect(verdict, words).toBeUndefined();
  else if (!from) expect(verdict?.reason, words).toBe('NodePathTaken');
  else expectBypass(verdict, arrived, words);
}

/** A bypass names the link, or one of two codes for dropped packets. */
function expectBypass(verdict: Finding['verdict'], arrived: string | undefined, words: string) {
  expect(verdict?.reason, words).toBe('PathBypassed');
  if (arrived) expect(verdict?.args, words).toContain(`link=${arrived}`);
  else expect(['RuleDropsPackets', 'NoRouteFromAddress'], words).toContain(verdict?.code);
}
