import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from 'kubernetes-types/networking/v1.js';

type Labels = Readonly<Record<string, string>>;

/** Who talks to whom: a Pod, or what is outside of the cluster's Pods. */
export interface Party {
  readonly ip: string;
  readonly pod?: {
    readonly namespace: string;
    readonly namespaceLabels?: Labels;
    readonly labels: Labels;
    /** Its packets are those of its node: no policy selects it. */
    readonly hostNetwork?: boolean;
  };
}

export interface Traffic {
  readonly from: Party;
  readonly to: Party;
  readonly port: number;
  readonly protocol?: 'TCP' | 'UDP';
}

/**
 * Whether policies let a connection through, as https://kubernetes.io/docs/concepts/services-networking/network-policies says:
 * what no policy selects is open; what one selects is let what any of them lets; both ends have to agree.
 */
export function isAllowed(policies: readonly NetworkPolicy[], traffic: Traffic): boolean {
  const { from, to, port, protocol = 'TCP' } = traffic;
  return (
    isOpen('Egress', policies, from, to, { port, protocol }) &&
    isOpen('Ingress', policies, to, from, { port, protocol })
  );
}

interface Door {
  readonly port: number;
  readonly protocol: string;
}

type Direction = 'Ingress' | 'Egress';

function isOpen(
  direction: Direction,
  policies: readonly NetworkPolicy[],
  self: Party,
  other: Party,
  door: Door,
): boolean {
  const about = policies.filter((policy) => selects(policy, direction, self));
  if (about.length === 0) return true;
  return about.some(({ spec, metadata }) => {
    const rules =
      direction === 'Ingress'
        ? spec?.ingress?.map(({ from, ports }) => ({ peers: from, ports }))
        : spec?.egress?.map(({ to, ports }) => ({ peers: to, ports }));
    const home = metadata?.namespace ?? '';
    return (rules ?? []).some(
      ({ peers = [], ports = [] }) =>
        (ports.length === 0 || ports.some((one) => isPort(one, door))) &&
        (peers.length === 0 || peers.some((peer) => isPeer(peer, other, home))),
    );
  });
}

function selects({ metadata, spec }: NetworkPolicy, direction: Direction, { pod }: Party): boolean {
  if (!spec || !pod || pod.hostNetwork) return false;
  const types = spec.policyTypes ?? ['Ingress', ...(spec.egress ? ['Egress'] : [])];
  return (
    types.includes(direction) &&
    metadata?.namespace === pod.namespace &&
    matches(spec.podSelector ?? {}, pod.labels)
  );
}

function isPort({ port, protocol = 'TCP', endPort }: NetworkPolicyPort, door: Door): boolean {
  if (protocol !== door.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === 'string') throw new Error(`the named port ${port} is not understood here`);
  return endPort === undefined ? port === door.port : port <= door.port && door.port <= endPort;
}

/** An empty list of peers is everybody; an empty peer is nobody that there is. */
function isPeer(peer: NetworkPolicyPeer, { ip, pod }: Party, home: string): boolean {
  if (peer.ipBlock) {
    const { cidr, except = [] } = peer.ipBlock;
    return isIn(ip, cidr) && !except.some((hole) => isIn(ip, hole));
  }
  if (!pod || pod.hostNetwork) return false;
  const { namespace, namespaceLabels = {}, labels } = pod;
  const names = { 'kubernetes.io/metadata.name': namespace, ...namespaceLabels };
  const isThere = peer.namespaceSelector
    ? matches(peer.namespaceSelector, names)
    : namespace === home;
  return isThere && matches(peer.podSelector ?? {}, labels);
}

function matches({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels) {
  if (matchExpressions.some(({ operator }) => operator !== 'Exists')) {
    throw new Error('of matchExpressions only Exists is understood here');
  }
  return (
    matchExpressions.every(({ key }) => labels[key] !== undefined) &&
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value)
  );
}

function isIn(ip: string, cidr: string): boolean {
  const [network = '', bits] = cidr.split('/');
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  if (!(family === 'ipv4' ? isIPv4(ip) : isIPv6(ip))) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(ip, family);
}
