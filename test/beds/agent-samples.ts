import { netplan } from '../../src/agent/backends/netplan.ts';
import type { PlanInput } from '../../src/agent/planning/candidates.ts';
import { planApply } from '../../src/agent/planning/plan.ts';
import type { Address, ConfigFile, Link, Route, Rule, Snapshot } from '../../src/agent/snapshot.ts';
import { type AgentState, emptyState } from '../../src/agent/state.ts';
import { familyOf, hostPrefix, ipOf, networkOf, prefixOf } from '../../src/api/address.ts';
import type { JobRequest, RequestInterface } from '../../src/api/job.ts';

/** MAC of the n-th NIC of the samples. */
export function macOf(n: number): string {
  return `02:00:00:00:01:${n.toString(16).padStart(2, '0')}`;
}

/** A NIC as the kernel shows a fresh one: down, without addresses. */
export function link(n: number, more: Partial<Link> = {}): Link {
  return {
    index: n + 10,
    name: `ens${n}`,
    altNames: [],
    mac: macOf(n),
    mtu: 1500,
    up: false,
    addressMode: 'eui64',
    ...more,
  };
}

export function address(name: string, cidr: string, more: Partial<Address> = {}): Address {
  const family = cidr.includes(':') ? 6 : 4;
  return {
    link: name,
    family,
    cidr,
    scope: 0,
    noPrefixRoute: false,
    opaque: false,
    ...more,
  };
}

export function route(to: string, name: string | undefined, more: Partial<Route> = {}): Route {
  return {
    family: to.includes(':') ? 6 : 4,
    type: 1,
    to,
    links: name === undefined ? [] : [name],
    table: 254,
    protocol: 3,
    scope: 0,
    metric: 0,
    opaque: false,
    ...more,
  };
}

export function rule(
  from: string,
  table: number,
  priority: number,
  more: Partial<Rule> = {},
): Rule {
  const family = from.includes(':') ? 6 : 4;
  return { family, from, table, priority, protocol: 4, opaque: false, ...more };
}

/** What the kernel gives to a new link. */
export const freshSettings = {
  'ipv6.accept_ra': '1',
  'ipv6.disable_ipv6': '0',
  'ipv4.rp_filter': '0',
  'ipv4.arp_ignore': '0',
  'ipv4.arp_announce': '0',
};

/** A node with a primary NIC eth0 in 10.200.0.0/16 and these NICs. */
export function host(links: readonly Link[], more: Partial<Snapshot> = {}): Snapshot {
  const all = [link(0, { name: 'eth0', up: true, index: 2 }), ...links];
  const addresses = [address('eth0', '10.200.0.2/16'), ...(more.addresses ?? [])];
  return {
    links: all,
    addresses,
    routes: [
      route('0.0.0.0/0', 'eth0', { via: '10.200.0.254', protocol: 4 }),
      ...all.flatMap((each) => connectedRoutes(each, addresses)),
      ...(more.routes ?? []),
    ],
    rules: more.rules ?? [],
    settings: more.settings ?? new Map(links.map(({ name }) => [name, freshSettings])),
    defaultSettings: freshSettings,
    files: more.files ?? [],
    held: more.held ?? [],
  };
}

/** The routes that the kernel makes from a link's addresses while it is up. */
export function connectedRoutes({ name, up }: Link, addresses: readonly Address[]): Route[] {
  const subnets = new Map<string, string>();
  for (const { link: on, cidr, noPrefixRoute } of addresses) {
    const single = prefixOf(cidr) === hostPrefix(familyOf(cidr));
    if (!up || on !== name || noPrefixRoute || single) continue;
    if (!subnets.has(networkOf(cidr))) subnets.set(networkOf(cidr), ipOf(cidr));
  }
  return [...subnets].map(([to, src]) =>
    familyOf(to) === 4
      ? route(to, name, { src, protocol: 2, scope: 253 })
      : route(to, name, { protocol: 2, metric: 256 }),
  );
}

/** A file of ours, or of the agent before ours, about one NIC. */
export function ownFile(index: number, mac: string, addresses: readonly string[]): ConfigFile {
  const path = netplan.path(index);
  const text = `# ${mac} ${addresses.join(' ')}\n`;
  return { path, text, mode: 0o600, own: { mac, index, addresses }, macs: [mac] };
}

/** The n-th NIC as a request has it, with the index n - 1. */
export function entry(n: number, more: Partial<RequestInterface> = {}): RequestInterface {
  return {
    index: n - 1,
    mac: macOf(n),
    mtu: 1450,
    addresses: [`10.0.0.${n}/24`],
    gateway: '10.0.0.254',
    routes: [],
    routing: 'pbr',
    ...more,
  };
}

export function request(
  interfaces: readonly RequestInterface[],
  more: Partial<JobRequest> = {},
): JobRequest {
  return {
    protocol: 1,
    uid: 'uid-1',
    generation: 1,
    attempt: 0,
    action: 'apply',
    nodeName: 'node-1',
    protectedAddresses: ['10.200.0.2'],
    interfaces: [...interfaces],
    ...more,
  };
}

export function input(
  asked: readonly RequestInterface[] | JobRequest,
  on: Snapshot,
  state: AgentState = emptyState,
): PlanInput {
  const wanted = 'protocol' in asked ? asked : request(asked);
  return { request: wanted, host: on, state, backend: netplan, bootId: 'boot-1' };
}

/** Reason and message for the NIC 1, which is the only one asked for. */
export function alone(on: Partial<Snapshot>, links: readonly Link[] = [link(1)]) {
  const { refused: nics } = planApply(input([entry(1)], host(links, on)));
  const [nic] = nics;
  return nic ? `${nic.refusal.reason}: ${nic.refusal.message}` : 'accepted';
}

/** A file of somebody else about which this is known. */
export const theirs = (more: object) => ({
  files: [{ path: '/etc/netplan/50-theirs.yaml', text: '', mode: 0o600, macs: [], ...more }],
});
