import { contains, isIPv4, isIPv6 } from '../api/address.ts';
import { mayCover } from '../api/held-nics.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import { specHash } from '../api/spec-hash.ts';
import type {
  MissingPortState,
  Network,
  Port,
  Question,
  Server,
  ServerEvidence,
  Subnet,
} from './observation.ts';
import { isOwn } from './ownership.ts';
import type { ExistingNode, PlanInput, RecordedNode } from './plan.ts';

/** Object in the business cluster with lower-case ids, assigned to the server that it was delivered for. */
export interface ExistingObject extends ExistingNode {
  /** True: instanceId was edited to another server. */
  readonly isMisplaced: boolean;
}

/** Plan input, indexed for lookups. */
export interface View {
  readonly input: PlanInput;
  readonly servers: ReadonlyMap<string, Server>;
  readonly missingServers: ReadonlySet<string>;
  readonly subnets: ReadonlyMap<string, SubnetFacts>;
  readonly networks: ReadonlyMap<string, Network>;
  /** Position in the subnet selector. */
  readonly rank: ReadonlyMap<string, number>;
  readonly existing: readonly ExistingObject[];
  readonly existingByName: ReadonlyMap<string, ExistingObject>;
  readonly unreadablePorts: ReadonlySet<string>;
  /** Servers with evidence, recorded deliveries or removals that wait for consent. */
  readonly dependents: ReadonlySet<string>;
  portsOf(serverId: string): readonly Port[];
  existingOf(serverId: string): readonly ExistingObject[];
  recordedOf(serverId: string): RecordedNode['interfaces'];
  verdict(question: Question): MissingPortState | undefined;
  serverVerdict(serverId: string): ServerEvidence['verdict'] | undefined;
  /** True if a NIC's removal waits for consent. */
  isHeldBack(serverId: string, nic: Nic): boolean;
  /** True if the user's consent may cover the NIC's removal; the gate decides. */
  hasConsent(serverId: string, nic: Pick<Nic, 'macAddress'>): boolean;
}

/** NIC identity on a server: port id, or MAC without port id. */
export type Nic = { readonly portId?: string | undefined; readonly macAddress: string };

/** Returns a NIC's stable key within the cloud. */
export function nicAt(serverId: string, { portId, macAddress }: Nic): string {
  return `${serverId} ${portId || macAddress.toLowerCase()}`;
}

/** Indexes a plan input. `heldBack`: NIC keys (`nicAt`) whose removal waits for consent. */
export function viewOf(input: PlanInput, heldBack: ReadonlySet<string>): View {
  const { observation, selection, evidence } = input;
  const existing = placed(input.held.map(withLowerIds), input);
  const ports = Map.groupBy(observation.ports, ({ deviceId }) => deviceId);
  for (const ofServer of ports.values()) ofServer.sort((a, b) => compareText(a.id, b.id));
  const byInstance = Map.groupBy(existing, ({ spec }) => spec.instanceId ?? '');
  const verdicts = new Map(evidence.map((one) => [subjectOf(one), one.verdict]));
  const ofServers = new Map(
    input.serverEvidence.map(({ serverId, verdict }) => [serverId, verdict]),
  );
  const isCovered = mayCover(input.consent?.digests ?? '');
  const recorded = Map.groupBy(input.recorded, ({ instanceId }) => instanceId.toLowerCase());
  return {
    input,
    servers: byId(observation.servers),
    missingServers: new Set(observation.missingServers),
    unreadablePorts: new Set(observation.unreadablePorts),
    dependents: new Set([
      ...evidence.map(({ serverId }) => serverId),
      ...input.serverEvidence.map(({ serverId }) => serverId),
      ...recorded.keys(),
      ...[...heldBack].map((nic) => nic.slice(0, nic.indexOf(' '))),
    ]),
    subnets: byId(observation.subnets.map(subnetFacts)),
    networks: byId(observation.networks),
    rank: new Map(selection.subnetIds.map((id, rank) => [id, rank])),
    existing,
    existingByName: new Map(existing.map((node) => [node.nodeName, node])),
    portsOf: (serverId) => ports.get(serverId) ?? [],
    existingOf: (serverId) => byInstance.get(serverId) ?? [],
    recordedOf: (serverId) =>
      (recorded.get(serverId) ?? []).flatMap(({ interfaces }) => interfaces),
    verdict: (question) => verdicts.get(subjectOf(question)),
    serverVerdict: (serverId) => ofServers.get(serverId),
    isHeldBack: (serverId, nic) => heldBack.has(nicAt(serverId, nic)),
    hasConsent: (subject, { macAddress }) =>
      isCovered({ cluster: input.providerId, subject, macAddress }),
  };
}

/** Assigns this OpenstackConfig's objects to the servers that they were delivered for. */
function placed(nodes: readonly ExistingNode[], input: PlanInput): ExistingObject[] {
  const { selection } = input;
  const taken = new Set(
    nodes.map(({ spec, labelledInstanceId }) =>
      spec.instanceId === labelledInstanceId?.toLowerCase() ? spec.instanceId : undefined,
    ),
  );
  return nodes.map((node) => {
    const { spec } = node;
    const instanceId = deliveredFor(node)?.toLowerCase();
    const isMisplaced =
      instanceId !== undefined &&
      instanceId !== spec.instanceId &&
      selection.serverIds.includes(instanceId) &&
      !taken.has(instanceId) &&
      isOwn(node, input.owner, input.force);
    return isMisplaced
      ? { ...node, isMisplaced, spec: { ...spec, instanceId } }
      : { ...node, isMisplaced };
  });
}

/**
 * Returns the server that an object was delivered for. Viola labels objects with the instance id; an edited
 * instanceId alone deselects nothing. A matching specHash proves the spec unchanged, and then the label was edited.
 */
export function deliveredFor({ spec, labelledInstanceId }: ExistingNodeConfig): string | undefined {
  const { instanceId } = spec;
  if (labelledInstanceId === undefined || labelledInstanceId === instanceId) return instanceId;
  return spec.specHash === specHash(spec) ? instanceId : labelledInstanceId;
}

function subjectOf({ serverId, portId, macAddress }: Question): string {
  return `${serverId}/${portId ?? macAddress}`;
}

/**
 * Returns the node with lower-case ids: databases compare ids without case, so spellings may differ from OpenStack's
 * answers. Nodes that need no change, nearly all, are not copied.
 */
function withLowerIds(node: ExistingNode): ExistingNode {
  const { spec } = node;
  const instanceId = spec.instanceId?.toLowerCase();
  const areLower = spec.interfaces?.every(hasLowerIds) ?? true;
  if (instanceId === spec.instanceId && areLower) return node;
  const lower = {
    ...spec,
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(spec.interfaces === undefined
      ? {}
      : { interfaces: spec.interfaces.map(entryWithLowerIds) }),
  };
  return { ...node, spec: lower };
}

function hasLowerIds({ portId, subnetId }: InterfaceSpec): boolean {
  return portId === portId?.toLowerCase() && subnetId === subnetId?.toLowerCase();
}

/** Returns an entry with its ids in lower case; entries that need no change, nearly all, are not copied. */
export function entryWithLowerIds(entry: InterfaceSpec): InterfaceSpec {
  if (hasLowerIds(entry)) return entry;
  const { portId, subnetId } = entry;
  return {
    ...entry,
    ...(portId === undefined ? {} : { portId: portId.toLowerCase() }),
    ...(subnetId === undefined ? {} : { subnetId: subnetId.toLowerCase() }),
  };
}

function byId<T extends { readonly id: string }>(items: readonly T[]): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [item.id, item]));
}

/** Subnet with the data that all its NICs share. */
export interface SubnetFacts extends Subnet {
  /** Prefix length from the cidr. */
  readonly prefix: string;
  /** An entry's `gateway` and `routes`, where present. */
  readonly shared: Pick<InterfaceSpec, 'gateway' | 'routes'>;
}

function subnetFacts(subnet: Subnet): SubnetFacts {
  const { cidr, gatewayIp, ipVersion } = subnet;
  const routes = routesOf(subnet);
  return {
    ...subnet,
    prefix: cidr.split('/')[1] ?? (ipVersion === 4 ? '32' : '128'),
    shared: {
      ...(gatewayIp !== undefined && isOf(ipVersion, gatewayIp) ? { gateway: gatewayIp } : {}),
      ...(routes.length > 0 ? { routes } : {}),
    },
  };
}

/** True if the text is an address in this IP version. */
function isOf(ipVersion: 4 | 6, text: string): boolean {
  return ipVersion === 4 ? isIPv4(text) : isIPv6(text);
}

/**
 * Returns Neutron's host routes that a NIC's own table can hold. The gateway already covers the default route, and
 * the kernel refuses a next hop outside the subnet unless link-local.
 */
function routesOf({ hostRoutes, cidr, ipVersion }: Subnet) {
  return hostRoutes
    .filter(({ destination, nexthop }) => {
      const [ip = '', prefix = '0'] = destination.split('/');
      if (prefix === '0' || !isOf(ipVersion, ip) || !isOf(ipVersion, nexthop)) return false;
      return contains(cidr, nexthop) || contains(linkLocal, nexthop);
    })
    .map(({ destination, nexthop }) => ({ to: destination, via: nexthop }))
    .toSorted((a, b) => compareText(`${a.to} ${a.via}`, `${b.to} ${b.via}`));
}

const linkLocal = 'fe80::/10';

/** Compares text independently from the machine's locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
