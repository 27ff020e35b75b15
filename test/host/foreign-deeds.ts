import { primary } from '../../rig/hosts/namespace/host.ts';

/** NIC subject to foreign changes in a test run. */
export interface Plug {
  readonly mac: string;
  /** Link name when plugged. */
  readonly name: string;
}

/** Context for a foreign change; `number` is unique per test run. */
export interface DeedTarget {
  readonly number: number;
  readonly on: Plug;
  readonly netns: string;
  /** Fabric namespace, also used as a Pod's namespace. */
  readonly fabric: string;
}

/** Foreign change to a host, as bash, with its reversal. */
export interface Deed {
  readonly does: string;
  readonly ends: string;
  /** Lines in `pictureOf` no agent run may remove, at any time. */
  readonly stays?: readonly string[];
  /** Lines on the NIC to preserve if present before a run; during a change they may be lost. */
  readonly staysOnNic?: readonly string[];
}

const fabricEnd = (mac: string) => `sw${mac.replaceAll(':', '')}`;

/** Link with the NIC's MAC, not being the NIC: up, with an address. */
function impostor(make: string) {
  return ({ number, on: { mac } }: DeedTarget): Deed => ({
    does: `${make.replaceAll('%', `fx${number}`).replaceAll('#', `${number}`)} && ip link set fx${number} address ${mac} up && ip addr add 10.66.${number}.1/24 dev fx${number}`,
    ends: `ip link del fx${number}`,
    stays: [`link fx${number} up ${mac}`, `address 10.66.${number}.1/24 fx${number}`],
  });
}

/** Foreign changes; `$dev` is the NIC's current name. */
export const deeds = {
  bridge: impostor('ip link add % type bridge'),
  tap: impostor('ip tuntap add dev % mode tap'),
  vxlan: impostor('ip link add % type vxlan id # dstport 4789 local 10.200.0.2'),
  twin: ({ number, on: { mac } }) => ({
    does: `ip link add fx${number} type veth peer name fy${number} && ip link set fx${number} address ${mac} up`,
    ends: `ip link del fx${number}`,
    stays: [`link fx${number} up ${mac}`],
  }),
  port: ({ number }) => ({
    does: `ip link add fx${number} type bridge && ip link set fx${number} up && ip link set $dev master fx${number}`,
    ends: `ip link del fx${number}`,
  }),
  address: ({ number, on: { mac } }) => ({
    does: `ip addr add 10.67.${number}.1/32 dev $dev`,
    ends: `ip addr del 10.67.${number}.1/32 dev $dev`,
    staysOnNic: [`address 10.67.${number}.1/32 ${mac}`],
  }),
  route: ({ number, on: { mac } }) => ({
    does: `ip route add 10.68.${number}.0/24 dev $dev proto bird`,
    ends: `ip route del 10.68.${number}.0/24`,
    staysOnNic: [`route 10.68.${number}.0/24 ${mac} main`],
  }),
  neighbour: ({ number, on: { mac } }) => ({
    does: `ip neigh add 10.69.${number}.9 lladdr 02:00:00:00:0e:01 nud permanent dev $dev`,
    ends: `ip neigh del 10.69.${number}.9 dev $dev`,
    staysOnNic: [`neighbour 10.69.${number}.9 ${mac}`],
  }),
  egress: ({ number, on: { mac } }) => ({
    does: `ip route add default dev $dev table ${3000 + number} && ip rule add pref ${200 + number} from 10.244.${number}.0/24 lookup ${3000 + number}`,
    ends: `ip rule del pref ${200 + number}; ip route flush table ${3000 + number}`,
    stays: [`rule ${200 + number} 10.244.${number}.0/24 ${3000 + number}`],
    staysOnNic: [`route default ${mac} ${3000 + number}`],
  }),
  elsewhere: ({ number }) => ({
    does: `ip route add 10.70.${number}.0/24 via ${primary.gateway} && ip rule add pref ${200 + number} from 10.245.${number}.0/24 lookup 2000`,
    ends: `ip route del 10.70.${number}.0/24; ip rule del pref ${200 + number}`,
    stays: [
      `route 10.70.${number}.0/24 eth0 main`,
      `rule ${200 + number} 10.245.${number}.0/24 2000`,
    ],
  }),
  wayOut: () => ({
    does: 'ip route replace default via 10.0.0.254 dev $dev onlink',
    ends: `ip route replace default via ${primary.gateway} dev eth0 proto static`,
  }),
  child: ({ number, fabric }) => ({
    does: `ip link add fx${number} link $dev type macvlan mode bridge && ip link set fx${number} netns ${fabric} && ip -n ${fabric} link set fx${number} up && { ip -n ${fabric} -o link show fx${number} | grep -q LOWER_UP || { ip -n ${fabric} link del fx${number}; false; }; }`,
    ends: `ip -n ${fabric} link del fx${number}`,
    staysOnNic: [`child fx${number} up`],
  }),
  unplug: ({ on: { mac, name }, netns, fabric }) => ({
    does: `ip -n ${fabric} link del ${fabricEnd(mac)}`,
    ends: `ip -n ${fabric} link add ${fabricEnd(mac)} type veth peer name ${name} address ${mac} netns ${netns} && ip -n ${fabric} link set ${fabricEnd(mac)} master br0 mtu 9000 up`,
  }),
} as const satisfies Record<string, (scene: DeedTarget) => Deed>;

export type DeedName = keyof typeof deeds;

/** Returns the change as bash for the host's namespace; creates a file on success. */
export function script(words: string, { on }: DeedTarget, done: string): string {
  return `dev=$(ip -o link show type veth | awk -v mac=${on.mac} '$0 ~ mac && $2 !~ /^f[xy]/ { sub(/[@:].*/, "", $2); print $2; exit }')
{ ${words}; } && touch ${done}
`;
}

/** Link kinds missing on test kernels, as recorded from `ip -N -j -d link show` on other hosts. */
const recordedKinds = {
  openvswitch: 'br-ex',
  bond: 'bond7',
  dummy: 'dummy7',
  vrf: 'vrf7',
} as const;

/** Returns recorded `link show` objects to add: links with these MACs other than NICs. */
export function recordedLinks(macs: readonly string[]): string {
  const kinds = Object.entries(recordedKinds);
  const links = kinds.map(([kind, name], at) => ({
    ifindex: 9_000 + at,
    ifname: name,
    flags: ['BROADCAST', 'MULTICAST', 'UP', 'LOWER_UP'],
    mtu: 1_500,
    qdisc: 'noqueue',
    operstate: 'UNKNOWN',
    link_type: '[1]',
    address: macs[at % macs.length],
    linkinfo: { info_kind: kind },
    inet6_addr_gen_mode: 'eui64',
  }));
  return links.map((link) => JSON.stringify(link)).join(',');
}
