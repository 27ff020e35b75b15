import { familyOf } from '../../../api/address.ts';
import type { ClusterNetwork } from '../../../api/cluster-networks.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../../api/node-configs-http.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Cloud } from '../../../openstack/cloud.ts';
import type { Found, Network, Port, Server, Subnet } from '../../../openstack/resources.ts';
import type { Observation } from '../../../plan/observation.ts';
import { mapBounded } from '../../../process/bounded.ts';
import { nextTurn } from '../../../process/slices.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { Clock } from '../../../time/clock.ts';
import type { Listed } from '../../clusters/deliver/node-list.ts';
import { violaFailure } from '../../clusters/deliver/viola-problem.ts';
import { type ReadTime, readTimeOf } from '../../model/read-time.ts';
import { openstackFailure, reasonOf, type StatusProblem } from '../../model/step-failure.ts';
import type { PlanContext } from '../../model/sync-context.ts';
import type { Connections } from './connections.ts';
import { type ChosenServers, chooseServers, flawOfServer, isPinned } from './servers.ts';
import { type ChosenSubnets, chooseSubnets } from './subnets.ts';

/** State of cloud and business cluster before planning. */
export interface Observed {
  readonly servers: ChosenServers;
  readonly subnets: ChosenSubnets;
  readonly cloud: CloudState;
  /** MultiNicNodeConfigs in the business cluster for the OpenstackConfig and its servers. */
  readonly held: readonly ExistingNodeConfig[];
  /** When the existing nodes were read. */
  readonly heldRead: ReadTime;
  readonly unreadable: readonly UnreadableNode[];
  /** Networks of the business cluster; undefined: unknown. */
  readonly clusterNetworks?: readonly ClusterNetwork[] | undefined;
  /** True: this Viola stores cluster and cloud in the source. */
  readonly storesIdentity?: boolean;
  /** Whether Viola delivers consent to adoption; undefined: unknown, or not needed. */
  readonly supportsAdoption?: boolean;
  /** Further ids of the business cluster. */
  readonly sameClusterIds?: readonly string[];
}

/** A sync or what-if with its connections. */
export interface ConnectedContext extends PlanContext {
  readonly connections: Connections;
}

/** A sync or what-if with observed cloud and business cluster. */
export interface ObservedContext extends ConnectedContext {
  readonly observed: Observed;
}

/**
 * Reads the cloud and the business cluster in parallel. Throws StepFailure; if both fail, the OpenStack
 * failure.
 */
export async function observe(
  context: ConnectedContext,
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
  signal: AbortSignal,
): Promise<Observed> {
  const { config, connections } = context;
  const [subnets, servers] = await Promise.all([
    chooseSubnets(connections.view.cloud, config, signal),
    selectedServers(context, signal),
  ]);
  const heldRead = readTimeOf(clock);
  const [cloud, held] = await Promise.allSettled([
    observeCloud(context, { servers, subnets }, signal),
    readExisting(context, servers, signal),
  ]);
  signal.throwIfAborted();
  if (cloud.status === 'rejected') throw cloud.reason;
  if (held.status === 'rejected') throw violaFailure(held.reason);
  const { nodes, unreadable } = held.value;
  return { servers, subnets, cloud: cloud.value, held: nodes, heldRead, unreadable };
}

/** Selects the servers; a sync with limited scope selects no new servers. */
async function selectedServers(
  { config, source, scope, freshness, connections }: ConnectedContext,
  signal: AbortSignal,
): Promise<ChosenServers> {
  const { cloud, ports } = connections.view;
  const { serversSince: since } = freshness;
  const before = ports.serversOf(keyOf(source));
  if (scope.servers === 'all' || isPinned(config.servers)) {
    return chooseServers(config.servers, { cloud, since, before }, signal);
  }
  return { ids: before, complete: false, pinned: false, problems: [], flaws: [] };
}

const readsAtOnce = 8;

/**
 * Lists every object for the OpenstackConfig and its servers, or reads only the objects for servers in scope.
 */
async function readExisting(
  { source, scope, isForced, connections }: ConnectedContext,
  { ids }: ChosenServers,
  signal: AbortSignal,
): Promise<Listed> {
  const { viola } = connections;
  if (scope.servers === 'all') {
    return viola.list({ fresh: isForced, source, instanceIds: ids }, signal);
  }
  const names = scope.servers.flatMap((id) => scope.nodeNames.get(id) ?? []);
  const read = async (name: string) => viola.get(name, signal);
  const nodes = await mapBounded(names, readsAtOnce, read, signal);
  return { nodes: nodes.flatMap((node) => node ?? []), unreadable: [] };
}

/**
 * Returns the servers with a selected port not yet named by an object: the inventory may know a name for this
 * port.
 */
export function serversWithNewPorts({ subnets, cloud, held }: Observed): string[] {
  const chosen = new Set(subnets.ids);
  const named = new Set(
    held.flatMap(({ spec }) => spec.interfaces ?? []).map(({ portId }) => portId?.toLowerCase()),
  );
  const fresh = cloud.observation.ports.filter(
    (port) => !named.has(port.id) && port.fixedIps.some(({ subnetId }) => chosen.has(subnetId)),
  );
  return [...new Set(fresh.map(({ deviceId }) => deviceId))];
}

type Selected = Pick<Observed, 'servers' | 'subnets'>;

/** Cloud state necessary for an OpenstackConfig. */
interface CloudState {
  readonly observation: Observation;
  readonly problems: readonly StatusProblem[];
  /** Ports and servers with an unreadable field, ignored by the sync. */
  readonly flaws: readonly StatusProblem[];
}

/**
 * Reads the servers in scope with their ports, subnets and networks. Throws if the ports cannot be read. Any
 * further failed read is reported and absent from the observation; absent means unknown.
 */
async function observeCloud(
  context: ConnectedContext,
  selected: Selected,
  signal: AbortSignal,
): Promise<CloudState> {
  const { config, scope, connections } = context;
  const { cloud, observedServers } = connections.view;
  const { subnets } = selected;
  const serverIds = scope.servers === 'all' ? selected.servers.ids : scope.servers;
  const [listed, servers] = await Promise.all([
    listPorts(context, selected, signal).catch((error: unknown) => fail(error, signal)),
    readServers(cloud, serverIds, signal),
  ]);
  await nextTurn();
  const ports = listed.filter(({ flaw }) => flaw === undefined);
  const flawed = new Map(listed.filter(({ flaw }) => flaw).map((port) => [port.id, port]));
  const chosen = new Set(subnets.ids);
  const usable = ports.filter((port) => port.fixedIps.some((ip) => chosen.has(ip.subnetId)));
  const [others, networks, missingServers] = await Promise.all([
    readOtherSubnets({ cloud, subnets, config }, usable, signal),
    readNetworks(cloud, usable, signal),
    servers.problem
      ? []
      : observedServers.missing(cloud, serverIds.filter(isUnflawed), servers.found, signal),
  ]);
  return {
    observation: {
      servers: [...servers.found.values()],
      missingServers,
      ports,
      unreadablePorts: [...flawed.keys()],
      subnets: [...subnets.found, ...others],
      networks,
    },
    problems: servers.problem ? [servers.problem] : [],
    flaws: [...[...flawed.values()].map(flawOfPort), ...servers.flawed.map(flawOfServer)],
  };

  function isUnflawed(serverId: string): boolean {
    return servers.flawed.every(({ id }) => id !== serverId);
  }
}

function flawOfPort({ id, deviceId, flaw = '' }: Port): StatusProblem {
  const place = deviceId === '' ? 'of an unknown server' : `of server ${deviceId}`;
  const message = `port ${id} ${place} cannot be read and stays unchanged: ${flaw}`;
  return { reason: 'NeutronPortError', message };
}

async function listPorts(
  { source, scope, freshness, connections }: ConnectedContext,
  { servers }: Selected,
  signal: AbortSignal,
): Promise<readonly Port[]> {
  const { ports } = connections.view;
  const { events } = scope;
  const some = await ports.portsOfFew(events.servers, events.since, signal);
  if (scope.servers !== 'all') return some;
  return ports.portsOf(keyOf(source), servers.ids, freshness.portsSince, signal);
}

function fail(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  throw openstackFailure(error, 'NeutronPortError');
}

interface Servers {
  readonly found: ReadonlyMap<string, Server>;
  readonly flawed: readonly Server[];
  readonly problem: StatusProblem | undefined;
}

/** Reads the servers; without Nova the plan leaves names unchanged. */
async function readServers(
  cloud: Cloud,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Servers> {
  try {
    const all = [...(await cloud.servers(ids, signal))];
    const found = new Map(all.filter(([, { flaw }]) => flaw === undefined));
    const flawed = all.flatMap(([, server]) => (server.flaw === undefined ? [] : [server]));
    return { found, flawed, problem: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    const problem = { reason: reasonOf(error, 'NovaServerError'), message: error.message };
    return { found: new Map(), flawed: [], problem };
  }
}

/** Reads the subnets behind further addresses of selected ports, in the wanted address families. */
async function readOtherSubnets(
  {
    cloud,
    subnets,
    config,
  }: { readonly cloud: Cloud } & Pick<Selected, 'subnets'> & Pick<PlanContext, 'config'>,
  ports: readonly Port[],
  signal: AbortSignal,
): Promise<Subnet[]> {
  const chosen = new Set(subnets.ids);
  const others = new Set<string>();
  for (const { ipAddress, subnetId } of ports.flatMap(({ fixedIps }) => fixedIps)) {
    const isWanted = config.addressFamilies.includes(`IPv${familyOf(ipAddress)}`);
    if (isWanted && !chosen.has(subnetId)) others.add(subnetId);
  }
  return readable(
    [...others].map(async (id) => cloud.subnet(id, signal)),
    signal,
  );
}

async function readNetworks(
  cloud: Cloud,
  ports: readonly Port[],
  signal: AbortSignal,
): Promise<Network[]> {
  const ids = new Set(ports.map(({ networkId }) => networkId));
  return readable(
    [...ids].map(async (id) => cloud.network(id, signal)),
    signal,
  );
}

/**
 * Returns the readable values; the plan leaves the rest unchanged and reports unreadable values where
 * necessary.
 */
async function readable<T>(reads: readonly Promise<Found<T>>[], signal: AbortSignal): Promise<T[]> {
  const settled = await Promise.allSettled(reads);
  signal.throwIfAborted();
  return settled.flatMap((read) => {
    if (read.status === 'fulfilled') return read.value.kind === 'found' ? [read.value.value] : [];
    if (isRequestError(read.reason)) return [];
    throw read.reason;
  });
}
