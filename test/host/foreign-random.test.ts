import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { createHost, type NamespaceHost, primary } from '../../rig/hosts/namespace/host.ts';
import type { NicResult } from '../../src/api/job.ts';
import { request } from '../fixtures/agent-samples.ts';
import { nic, runAgent } from './agent-process.ts';
import { filesOfOurs } from './family-host.ts';
import { ipWith } from './line-by-line-ip.ts';

const [first, second] = ['02:00:00:00:01:05', '02:00:00:00:01:06'] as const;
const here = nic(0, first, '10.0.0.11/16', { gateway: '10.0.0.254' });
const moved = { ...here, addresses: ['10.0.0.21/16'] };
const beside = nic(1, second, '10.1.0.12/16');
const wishes = [[], [here], [moved], [here, beside], [moved, beside]] as const;
const pod = 'multinic-foreign-random-pod';

/** What other software does to a host; `$dev` is the NIC with the first MAC, `$mac`. A link that it makes is up. */
const deeds = {
  bridge: [
    'ip link add brx type bridge && ip link set brx address $mac up && ip addr add 10.66.0.1/24 dev brx',
    'ip link del brx',
  ],
  tap: [
    'ip tuntap add dev tapx mode tap && ip link set tapx address $mac up && ip addr add 10.66.1.1/24 dev tapx',
    'ip link del tapx',
  ],
  // A twin of a NIC that is not there is the NIC, as one that was plugged again.
  twin: [
    '[ $dev ] && ip link add ens9 up type veth peer name far9 && ip link set ens9 address $mac',
    'ip link del ens9',
  ],
  unplugged: [
    `ip link show ens9 || ip link set $dev netns ${pod}`,
    `ip -n ${pod} link set $there netns $host`,
  ],
  port: ['ip link add brp type bridge; ip link set $dev master brp', 'ip link del brp'],
  address: ['ip addr add 10.67.0.1/32 dev $dev', 'ip addr del 10.67.0.1/32 dev $dev'],
  route: ['ip route add 10.68.0.0/24 dev $dev proto bird', 'ip route del 10.68.0.0/24'],
  default: [
    'ip route replace default via 10.0.0.254 dev $dev onlink',
    `ip route replace default via ${primary.gateway} dev eth0`,
  ],
  macvlan: [
    `ip link add mvx link $dev type macvlan mode bridge && ip link set mvx netns ${pod} && ip -n ${pod} link set mvx up`,
    `ip -n ${pod} link del mvx`,
  ],
} as const satisfies Record<string, readonly [string, string]>;
type Deed = keyof typeof deeds;
const names = Object.keys(deeds) as Deed[];
/** Links that no run may touch, with the address by which a change would show. */
const foreignLinks = { brx: '10.66.0.1/24', tapx: '10.66.1.1/24', ens9: '' } as const;

const event = fc.record({
  deed: fc.constantFrom(...names),
  ends: fc.boolean(),
  line: fc.integer({ min: 1, max: 12 }),
});
const life = fc.array(
  fc.record({
    wish: fc.constantFrom(...wishes),
    events: fc.array(event, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 3, maxLength: 5 },
);

/** A life takes about five seconds, and shrinking one takes as many again each time. */
const numRuns = Number(process.env['MULTINIC_FOREIGN_LIVES'] ?? 6);

let host: NamespaceHost;
afterEach(async () => {
  await host.down();
  await run('ip', ['netns', 'del', pod]);
});

const script = (deed: Deed, ends: boolean) => `mac=${first} host=${host.netns}
nics() { awk -v mac=$mac '$3 == mac { split($1, name, "@"); print name[1] }' | grep -v ens9; }
dev=$(ip -br link show type veth | nics)
there=$(ip -n ${pod} -br link show type veth | nics)
${deeds[deed][ends ? 1 : 0]}
`;

interface LinkNow {
  readonly ifname: string;
  readonly address: string;
  readonly master?: string;
  readonly flags: readonly string[];
  readonly addr_info: readonly { local: string; prefixlen: number; family: string }[];
}

async function linksNow() {
  const links = (await host.ipJson('addr', 'show')) as LinkNow[];
  return links.map(({ ifname, address, master, flags, addr_info }) => ({
    name: ifname,
    mac: address,
    master,
    up: flags.includes('UP'),
    addresses: addr_info
      .filter(({ family }) => family === 'inet')
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`),
  }));
}
type Links = Awaited<ReturnType<typeof linksNow>>;

const ours = (links: Links, mac: string) =>
  links.find((link) => link.mac === mac && !(link.name in foreignLinks) && link.name !== 'brp');

const isOf = (cidr: string) => /^10\.[01]\.0\./.test(cidr);

const nameAndOurs = (links: Links, mac: string) => {
  const link = ours(links, mac);
  return { name: link?.name, addresses: link?.addresses.filter(isOf) ?? [] };
};

/** What a result says of a NIC is what the host has. */
function expectTrue(told: NicResult, wish: (typeof wishes)[number], before: Links, after: Links) {
  const { mac, name, state, message } = told;
  const wanted = wish.find((entry) => entry.mac === mac)?.addresses;
  const live = {
    name,
    up: true,
    master: undefined,
    addresses: expect.arrayContaining(wanted ?? []) as string[],
  };
  // A NIC that is right when the run begins is not read again.
  const changed = wanted?.some((cidr) => !nameAndOurs(before, mac).addresses.includes(cidr));
  if (changed && state === 'Configured') expect(ours(after, mac)).toMatchObject(live);
  if (state === 'Removed') expect(nameAndOurs(after, mac).addresses).toEqual([]);
  const there = ours(before, mac) && ours(after, mac);
  if (there && message.endsWith('; undone'))
    expect(nameAndOurs(after, mac)).toEqual(nameAndOurs(before, mac));
}

test('whatever foreign links, routes and addresses come and go during runs, none is touched and results are true', async () => {
  await fc.assert(
    fc.asyncProperty(life, async (runs) => {
      host = await createHost('random', { nics: { ens5: first, ens6: second } });
      await run('ip', ['netns', 'add', pod]);
      const events = join(host.root, 'events');
      const count = join(host.root, 'count');
      // Between the answers of one snapshot nothing happens: a snapshot cannot show it.
      const path = await ipWith(
        host,
        `[[ $line =~ ^(route|rule|addr).show ]] || {
  at=$(($(cat ${count}) + 1)); echo $at >${count}
  [ ! -e ${events}/$at ] || { bash -c "$(cat ${events}/$at)" >/dev/null 2>&1; }
}`,
      );
      let generation = 0;
      const apply = async (wish: (typeof wishes)[number], options: { path?: string } = {}) => {
        const asked = request([...wish], { generation: ++generation });
        const { result, stderr } = await runAgent(host, asked, options);
        if (!result) throw new Error(`no result: ${stderr}`);
        return result.nics;
      };
      for (const { wish, events: planned } of runs) {
        await rm(events, { recursive: true, force: true });
        await mkdir(events);
        await writeFile(count, '0\n');
        for (const { deed, ends, line } of planned)
          await writeFile(join(events, String(line)), script(deed, ends));
        const before = await linksNow();
        const told = await apply(wish, { path });
        const after = await linksNow();
        for (const each of told) expectTrue(each, wish, before, after);
        for (const [name, cidr] of Object.entries(foreignLinks)) {
          const link = after.find((each) => each.name === name);
          if (link)
            expect(link).toMatchObject({ up: true, mac: first, addresses: cidr ? [cidr] : [] });
        }
      }
      for (const deed of names) await host.exec('bash', '-c', script(deed, true));
      const configured = await apply([here, beside]);
      expect(configured).toMatchObject([
        { state: 'Configured', message: '' },
        { state: 'Configured', message: '' },
      ]);
      for (const each of configured) expectTrue(each, [here, beside], [], await linksNow());
      expect(await apply([])).toMatchObject([{ state: 'Removed' }, { state: 'Removed' }]);
      expect((await linksNow()).flatMap(({ addresses }) => addresses.filter(isOf))).toEqual([]);
      expect(await host.ip('rule', 'show')).not.toMatch(/10\.[01]\.0\./);
      expect(await filesOfOurs(host)).toEqual({});
      expect(await readdir(join(host.root, 'var/lib/multinic/journal'))).toEqual([]);
      await host.down();
      await run('ip', ['netns', 'del', pod]);
    }),
    { numRuns, endOnFailure: true },
  );
}, 600_000);
