import { digestsOf } from '../api/held-nics.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { calculate } from './calculate.ts';
import type {
  MissingPortState,
  Network,
  Port,
  PortEvidence,
  Server,
  Subnet,
} from './observation.ts';
import type { Owner, Plan, PlanInput, Selection } from './plan.ts';

// Small test inputs: a cloud with two subnets in two networks, and servers s1, s2, … named worker-1, worker-2, …

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

/** Port `pN` on a server: MAC …:N and address .N in subnet a or b. */
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

/** Entry for port `pN` in subnet a, named multinic`index`. */
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

/** Object for server `sN`, posted for `owner`. */
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

/** Evidence for port `pN` on a server. */
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

/** Returns a plan input with one server, overridden by `sample`. */
export function input(sample: Sample): PlanInput {
  return {
    owner,
    providerId: 'biz-1',
    storedHold: { digests: '', isOverBudget: false },
    takeOverFrom: '',
    leftSources: [],
    takesUnowned: true,
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
    budgets: budgetsOf(0),
    recordedNics: [],
    sentReleases: [],
    removals: 'guarded',
    force: false,
    ...sample.input,
  };
}

/** Returns the sample with the user's consent to all removals that wait in it. */
export function withConsent(sample: Sample, value = 'yes'): Sample {
  const digests = digestsOf(calculate(input(sample)).heldNics);
  return { ...sample, input: { ...sample.input, consent: { value, digests, isStored: false } } };
}

/** Returns unused budgets of this many NICs and nodes. */
export function budgetsOf(total: number, used = 0): PlanInput['budgets'] {
  return (['clusterNodes', 'clusterNics', 'configNics'] as const).map((scope) => ({
    scope,
    used,
    total,
  }));
}

/** Returns the business cluster's objects after the plan was accepted and deletions finished. */
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
