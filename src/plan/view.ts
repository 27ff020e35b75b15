import { contains, isIPv4, isIPv6 } from '../api/address.ts';
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
import type { ExistingNode, Owner, PlanInput, RecordedNode } from './plan.ts';

/** An object of the business cluster, its ids in lower case, at the server that it was delivered for. */
export interface ExistingObject extends ExistingNode {
  /** Somebody wrote another server into it since. */
  readonly isMisplaced: boolean;
}

/** The input of a plan, made quick to look things up in. */
export interface View {
  readonly input: PlanInput;
  readonly servers: ReadonlyMap<string, Server>;
  readonly missingServers: ReadonlySet<string>;
  readonly subnets: ReadonlyMap<string, SubnetFacts>;
  readonly networks: ReadonlyMap<string, Network>;
  /** Place of a selected subnet in the order of precedence. */
  readonly rank: ReadonlyMap<string, number>;
  readonly held: readonly ExistingObject[];
  readonly heldByName: ReadonlyMap<string, ExistingObject>;
  readonly unreadablePorts: ReadonlySet<string>;
  portsOf(serverId: string): readonly Port[];
  heldOf(serverId: string): readonly ExistingObject[];
  recordedOf(serverId: string): RecordedNode['interfaces'];
  verdict(question: Question): MissingPortState | undefined;
  serverVerdict(serverId: string): ServerEvidence['verdict'] | undefined;
  /** Whether the removal of a NIC waits for somebody's consent. */
  isHeldBack(serverId: string, nic: Nic): boolean;
}

/** A NIC as its port or, without one, its MAC tells it from the others of its server. */
export type Nic = { readonly portId?: string | undefined; readonly macAddress: string };

/** A NIC of the cloud: the same one is always called the same. */
export function nicAt(serverId: string, { portId, macAddress }: Nic): string {
  return `${serverId} ${portId || macAddress.toLowerCase()}`;
}

/** `heldBack`: NICs, as `nicAt` calls them, whose removal waits for consent. */
export function viewOf(input: PlanInput, heldBack: ReadonlySet<string>): View {
  const { observation, selection, evidence } = input;
  const held = placed(input.held.map(withLowerIds), input);
  const ports = Map.groupBy(observation.ports, ({ deviceId }) => deviceId);
  const byInstance = Map.groupBy(held, ({ spec }) => spec.instanceId ?? '');
  const verdicts = new Map(evidence.map((one) => [subjectOf(one), one.verdict]));
  const ofServers = new Map(
    input.serverEvidence.map(({ serverId, verdict }) => [serverId, verdict]),
  );
  const recorded = Map.groupBy(input.recorded, ({ instanceId }) => instanceId.toLowerCase());
  return {
    input,
    servers: byId(observation.servers),
    missingServers: new Set(observation.missingServers),
    unreadablePorts: new Set(observation.unreadablePorts),
    subnets: byId(observation.subnets.map(subnetFacts)),
    networks: byId(observation.networks),
    rank: new Map(selection.subnetIds.map((id, rank) => [id, rank])),
    held,
    heldByName: new Map(held.map((node) => [node.nodeName, node])),
    portsOf: (serverId) => (ports.get(serverId) ?? []).toSorted((a, b) => compareText(a.id, b.id)),
    heldOf: (serverId) => byInstance.get(serverId) ?? [],
    recordedOf: (serverId) =>
      (recorded.get(serverId) ?? []).flatMap(({ interfaces }) => interfaces),
    verdict: (question) => verdicts.get(subjectOf(question)),
    serverVerdict: (serverId) => ofServers.get(serverId),
    isHeldBack: (serverId, nic) => heldBack.has(nicAt(serverId, nic)),
  };
}

/** Puts objects of this CR back to the servers that they were delivered for. */
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
      isOwn(node, input);
    return isMisplaced
      ? { ...node, isMisplaced, spec: { ...spec, instanceId } }
      : { ...node, isMisplaced };
  });
}

/**
 * The server that an object was delivered for: the label that Viola writes beside the instance id says which, and
 * somebody's edit of that id alone deselects nothing. Where the hash says that the spec is as Viola wrote it, it is the
 * label that was edited.
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
 * Whether an object belongs to this OpenstackConfig: it was posted for one of its name, which may have been made again
 * since. One that this uid delivered and a namesake with another uid has written since does not, unless it is taken back.
 */
export function isOwn(
  { source }: Pick<ExistingNodeConfig, 'source'>,
  { owner, force }: Pick<PlanInput, 'owner' | 'force'>,
): boolean {
  return isOfName(source, owner) && (force || !source?.replaces?.includes(owner.uid));
}

/** Whether an object was posted for an OpenstackConfig of this name, whatever its uid. */
export function isOfName(
  source: Pick<Owner, 'namespace' | 'name'> | undefined,
  { namespace, name }: Pick<Owner, 'namespace' | 'name'>,
): boolean {
  return source?.namespace === namespace && source.name === name;
}

/**
 * Databases compare ids without case, so that an object may hold one otherwise than OpenStack answers it. What is as it should
 * be, nearly all of tens of thousands of NICs, is not copied.
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

/** Returns an entry with its ids in lower case. */
export function entryWithLowerIds(entry: InterfaceSpec): InterfaceSpec {
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

/** A subnet with what its NICs have in common, worked out once for all of them. */
export interface SubnetFacts extends Subnet {
  /** Length of the prefix, as it stands in the cidr. */
  readonly prefix: string;
  /** `gateway` and `routes` of an entry, as far as there are any. */
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

/** Whether the text is an address of this version of IP. */
export function isOf(ipVersion: 4 | 6, text: string): boolean {
  return ipVersion === 4 ? isIPv4(text) : isIPv6(text);
}

/**
 * Neutron's host routes that a NIC's own table can hold: the default is the gateway's, and a next hop outside of the
 * subnet is one the kernel refuses, unless it is link-local.
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

/** Text order that does not depend on the machine's locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
