import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type {
  MissingPortState,
  Network,
  Port,
  PortEvidence,
  Server,
  Subnet,
} from './observation.ts';
import type { Owner, Plan, PlanInput, Selection } from './plan.ts';

// Small inputs for tests: a cloud with two subnets in two networks, servers s1, s2, … named worker-1, worker-2, …

export const owner: Owner = { namespace: 'multinic-system', name: 'osc', uid: 'cr-uid' };

export function subnet(letter: 'a' | 'b', change: Partial<Subnet> = {}): Subnet {
  const third = letter === 'a' ? 10 : 20;
  return {
    id: `sub-${letter}`,
    cidr: `10.0.${third}.0/24`,
    networkId: `net-${letter}`,
    ipVersion: 4,
    gatewayIp: `10.0.${third}.1`,
    hostRoutes: [],
    ...change,
  };
}

export const networks: readonly Network[] = [
  { id: 'net-a', mtu: 1450 },
  { id: 'net-b', mtu: 9000 },
];

/** Port `pN` of a server: MAC …:N and address .N in subnet a or b. */
export function port(n: number, serverId: string, change: Partial<Port> = {}, letter = 'a'): Port {
  const third = letter === 'a' ? 10 : 20;
  return {
    id: `p${n}`,
    networkId: `net-${letter}`,
    macAddress: `fa:16:3e:00:00:${n.toString(16).padStart(2, '0')}`,
    status: 'ACTIVE',
    deviceOwner: 'compute:nova',
    deviceId: serverId,
    createdAt: '2026-01-02T00:00:00Z',
    fixedIps: [{ subnetId: `sub-${letter}`, ipAddress: `10.0.${third}.${n}` }],
    ...change,
  };
}

export function server(n: number, change: Partial<Server> = {}): Server {
  return { id: `s${n}`, name: `worker-${n}`, status: 'ACTIVE', metadata: {}, ...change };
}

/** The entry that port `pN` in subnet a is delivered as, as multinic`index`. */
export function entry(
  n: number,
  index: number,
  change: Partial<InterfaceSpec> = {},
): InterfaceSpec {
  return {
    id: index,
    name: `multinic${index}`,
    portId: `p${n}`,
    macAddress: `fa:16:3e:00:00:${n.toString(16).padStart(2, '0')}`,
    address: `10.0.10.${n}`,
    cidr: '10.0.10.0/24',
    mtu: 1450,
    addresses: [`10.0.10.${n}/24`],
    gateway: '10.0.10.1',
    networkId: 'net-a',
    subnetId: 'sub-a',
    ...change,
  };
}

/** The object of server `sN`, posted for `owner`. */
export function existingNode(
  n: number,
  interfaces: readonly InterfaceSpec[],
  change: Partial<ExistingNodeConfig> = {},
): ExistingNodeConfig {
  const nodeName = `worker-${n}`;
  return {
    nodeName,
    uid: `uid-${n}`,
    generation: 1,
    source: { ...owner, generation: 1 },
    spec: { nodeName, instanceId: `s${n}`, interfaces: [...interfaces] },
    ...change,
  };
}

/** What reading port `pN` of a server showed. */
export function evidence(n: number, verdict: MissingPortState, serverId = 's1'): PortEvidence {
  const { portId, macAddress } = entry(n, 0);
  return { portId, macAddress, serverId, verdict };
}

export const selection: Selection = {
  serverIds: ['s1'],
  serversComplete: true,
  subnetIds: ['sub-a', 'sub-b'],
  subnetsComplete: true,
  pinned: { servers: true, subnets: true },
  statuses: ['ACTIVE', 'DOWN'],
  createdAfter: '2026-01-01T00:00:00Z',
  maxInterfaces: 10,
  addressFamilies: ['IPv4'],
  routing: 'pbr',
  nodeNameKey: undefined,
};

export interface Sample {
  readonly selection?: Partial<Selection>;
  readonly ports?: readonly Port[];
  readonly servers?: readonly Server[];
  readonly observation?: Partial<PlanInput['observation']>;
  readonly held?: readonly ExistingNodeConfig[];
  readonly evidence?: PlanInput['evidence'];
  readonly input?: Partial<PlanInput>;
}

/** A plan input of one server unless it is told otherwise. */
export function input(sample: Sample): PlanInput {
  return {
    owner,
    takeOverFrom: '',
    selection: { ...selection, ...sample.selection },
    scope: 'all',
    observation: {
      servers: sample.servers ?? [server(1)],
      missingServers: [],
      ports: sample.ports ?? [],
      subnets: [subnet('a'), subnet('b')],
      networks,
      ...sample.observation,
    },
    held: sample.held ?? [],
    evidence: sample.evidence ?? [],
    serverEvidence: [],
    recorded: [],
    cloudInterfaces: 0,
    recentRemovals: [],
    removals: 'guarded',
    force: false,
    ...sample.input,
  };
}

/** What the business cluster holds once everything of the plan was accepted and deleted objects are gone. */
export function applied(
  before: readonly ExistingNodeConfig[],
  plan: Plan,
  by: Owner = owner,
): ExistingNodeConfig[] {
  const nodes = new Map(before.map((node) => [node.nodeName, node]));
  for (const { nodeName } of plan.nodes.filter(({ action }) => action === 'delete')) {
    nodes.delete(nodeName);
  }
  const posted = plan.nodes.filter(({ action }) => action === 'post');
  for (const { nodeName, instanceId, interfaces } of posted) {
    const old = nodes.get(nodeName);
    nodes.set(nodeName, {
      nodeName,
      uid: old?.uid ?? `uid-of-${nodeName}`,
      generation: (old?.generation ?? 0) + 1,
      source: { ...by, generation: 1 },
      spec: { nodeName, instanceId, interfaces: [...interfaces] },
      ...(old?.status ? { status: old.status } : {}),
    });
  }
  return [...nodes.values()];
}
