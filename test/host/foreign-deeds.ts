import { primary } from '../../rig/hosts/namespace/host.ts';

/** A NIC that a life is about. */
export interface Plug {
  readonly mac: string;
  /** The name that it is plugged with. */
  readonly name: string;
}

/** Where a deed is done; every deed of a life has a number of its own. */
export interface Scene {
  readonly number: number;
  readonly on: Plug;
  readonly netns: string;
  /** Namespace of the fabric, which also stands for that of a Pod. */
  readonly fabric: string;
}

/** What other software does to a host, as bash, and takes back. */
export interface Deed {
  readonly does: string;
  readonly ends: string;
  /** Lines of `pictureOf` that no run of the agent may take, whenever the deed is done. */
  readonly stays?: readonly string[];
  /** Such lines on the NIC, once a run has found them there: what is done in the middle of a change may go with it. */
  readonly staysOnNic?: readonly string[];
}

const fabricEnd = (mac: string) => `sw${mac.replaceAll(':', '')}`;

/** A link with the MAC of the NIC that is none: up, with an address. */
function impostor(make: string) {
  return ({ number, on: { mac } }: Scene): Deed => ({
    does: `${make.replaceAll('%', `fx${number}`).replaceAll('#', `${number}`)} && ip link set fx${number} address ${mac} up && ip addr add 10.66.${number}.1/24 dev fx${number}`,
    ends: `ip link del fx${number}`,
    stays: [`link fx${number} up ${mac}`, `address 10.66.${number}.1/24 fx${number}`],
  });
}

/** `$dev` is the NIC's name at that moment. */
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
} as const satisfies Record<string, (scene: Scene) => Deed>;

export type DeedName = keyof typeof deeds;

/** The deed in a bash of the host's namespace; leaves a file when all of it was done. */
export function script(words: string, { on }: Scene, done: string): string {
  return `dev=$(ip -o link show type veth | awk -v mac=${on.mac} '$0 ~ mac && $2 !~ /^f[xy]/ { sub(/[@:].*/, "", $2); print $2; exit }')
{ ${words}; } && touch ${done}
`;
}

/** Kinds that kernels of test machines lack, as `ip -N -j -d link show` of hosts that have them shows such links. */
const recordedKinds = {
  openvswitch: 'br-ex',
  bond: 'bond7',
  dummy: 'dummy7',
  vrf: 'vrf7',
} as const;

/** Objects that `link show` answers beside those of the kernel: links with these MACs that are no NICs. */
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
