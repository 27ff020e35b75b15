import { familyOf } from '../../api/address.ts';
import type { ExistingNodeConfig, UnreadableNode } from '../../api/node-configs-http.ts';
import { keyOf } from '../../kube/object.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import type { Found, Network, Port, Server, Subnet } from '../../openstack/resources.ts';
import type { Observation } from '../../plan/observation.ts';
import { mapBounded } from '../../process/bounded.ts';
import { nextTurn } from '../../process/slices.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { violaFailure } from '../deliver/delivery-rounds.ts';
import type { Listed } from '../deliver/node-list.ts';
import type { ViolaClient } from '../deliver/viola-client.ts';
import { openstackFailure, reasonOf, type Trouble } from '../status/step-failure.ts';
import type { Access } from '../sync/connections.ts';
import type { SyncRequest } from '../sync/request.ts';
import type { CloudView } from './cloud-view.ts';
import { type ChosenServers, chooseServers, flawOfServer, isPinned } from './servers.ts';
import { type ChosenSubnets, chooseSubnets } from './subnets.ts';

/** What was seen at both ends before anything was planned. */
export interface Seen {
  readonly servers: ChosenServers;
  readonly subnets: ChosenSubnets;
  readonly look: Look;
  /** What the business cluster holds for the OpenstackConfig and its servers. */
  readonly held: readonly ExistingNodeConfig[];
  readonly unreadable: readonly UnreadableNode[];
}

/** Looks at the cloud and reads the business cluster at once; when both fail, OpenStack is the first step. */
export async function observe(
  request: SyncRequest,
  { view, viola }: Pick<Access, 'view' | 'viola'>,
  signal: AbortSignal,
): Promise<Seen> {
  const { config } = request;
  const [subnets, servers] = await Promise.all([
    chooseSubnets(view.cloud, config, signal),
    selectedServers(request, view, signal),
  ]);
  const [look, held] = await Promise.allSettled([
    observeCloud({ ...view, ...request, servers, subnets }, signal),
    readHeld(request, servers, viola, signal),
  ]);
  signal.throwIfAborted();
  if (look.status === 'rejected') throw look.reason;
  if (held.status === 'rejected') throw violaFailure(held.reason);
  const { nodes, unreadable } = held.value;
  return { servers, subnets, look: look.value, held: nodes, unreadable };
}

/** A look at some servers finds no others. */
async function selectedServers(
  { config, source, extent, serversSince: since }: SyncRequest,
  { cloud, ports }: CloudView,
  signal: AbortSignal,
): Promise<ChosenServers> {
  const before = ports.serversOf(keyOf(source));
  if (extent.scope === 'all' || isPinned(config.servers)) {
    return chooseServers(config.servers, { cloud, since, before }, signal);
  }
  return { ids: before, complete: false, pinned: false, troubles: [], flaws: [] };
}

const readsAtOnce = 8;

/** All that concerns the OpenstackConfig, or the objects of the servers that are looked at. */
async function readHeld(
  { source, extent, force }: SyncRequest,
  { ids }: ChosenServers,
  viola: ViolaClient,
  signal: AbortSignal,
): Promise<Listed> {
  if (extent.scope === 'all') {
    return viola.list({ fresh: force, source, instanceIds: ids }, signal);
  }
  const names = extent.scope.flatMap((id) => extent.nodeNames.get(id) ?? []);
  const read = async (name: string) => viola.get(name, signal);
  const nodes = await mapBounded(names, readsAtOnce, read, signal);
  return { nodes: nodes.flatMap((node) => node ?? []), unreadable: [] };
}

/** Servers with a selected port that no object names yet: only their names are asked for elsewhere. */
export function serversWithNewPorts({ subnets, look, held }: Seen): string[] {
  const chosen = new Set(subnets.ids);
  const named = new Set(
    held.flatMap(({ spec }) => spec.interfaces ?? []).map(({ portId }) => portId?.toLowerCase()),
  );
  const fresh = look.observation.ports.filter(
    ({ id, fixedIps }) => !named.has(id) && fixedIps.some(({ subnetId }) => chosen.has(subnetId)),
  );
  return [...new Set(fresh.map(({ deviceId }) => deviceId))];
}

interface ObserveInput
  extends CloudView,
    Pick<SyncRequest, 'config' | 'source' | 'extent' | 'since'> {
  readonly servers: ChosenServers;
  readonly subnets: ChosenSubnets;
}

export interface Look {
  readonly observation: Observation;
  readonly troubles: readonly Trouble[];
  /** Ports and servers with an unreadable field; the sync goes on without them. */
  readonly flaws: readonly Trouble[];
}

/**
 * Looks at the servers of an OpenstackConfig, or at some of them. Throws when the ports cannot be read; everything else that fails is left
 * out of the observation, which means unknown, and reported.
 */
export async function observeCloud(input: ObserveInput, signal: AbortSignal): Promise<Look> {
  const { cloud, extent, subnets, serversSeen } = input;
  const serverIds = extent.scope === 'all' ? input.servers.ids : extent.scope;
  const [listed, servers] = await Promise.all([
    listPorts(input, signal).catch((error: unknown) => fail(error, signal)),
    readServers(cloud, serverIds, signal),
  ]);
  await nextTurn();
  const ports = listed.filter(({ flaw }) => flaw === undefined);
  const flawed = new Map(listed.filter(({ flaw }) => flaw).map((port) => [port.id, port]));
  const chosen = new Set(subnets.ids);
  const selected = ports.filter((port) => port.fixedIps.some((ip) => chosen.has(ip.subnetId)));
  const [others, networks, missingServers] = await Promise.all([
    readOtherSubnets(input, selected, signal),
    readNetworks(cloud, selected, signal),
    servers.trouble
      ? []
      : serversSeen.missing(cloud, serverIds.filter(isUnflawed), servers.found, signal),
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
    troubles: servers.trouble ? [servers.trouble] : [],
    flaws: [...[...flawed.values()].map(flawOfPort), ...servers.flawed.map(flawOfServer)],
  };

  function isUnflawed(serverId: string): boolean {
    return servers.flawed.every(({ id }) => id !== serverId);
  }
}

function flawOfPort({ id, deviceId, flaw = '' }: Port): Trouble {
  const place = deviceId === '' ? 'of an unknown server' : `of server ${deviceId}`;
  const message = `port ${id} ${place} cannot be read and is left as it is: ${flaw}`;
  return { reason: 'NeutronPortError', message };
}

async function listPorts(
  { ports, servers, source, extent, since }: ObserveInput,
  signal: AbortSignal,
): Promise<readonly Port[]> {
  const { scope, hinted } = extent;
  const some = await ports.portsOfFew(hinted.servers, hinted.since, signal);
  return scope === 'all' ? ports.portsOf(keyOf(source), servers.ids, since, signal) : some;
}

function fail(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  throw openstackFailure(error, 'NeutronPortError');
}

interface Servers {
  readonly found: ReadonlyMap<string, Server>;
  readonly flawed: readonly Server[];
  readonly trouble: Trouble | undefined;
}

/** Names are kept as they are while Nova fails. */
async function readServers(
  cloud: Cloud,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Servers> {
  try {
    const all = [...(await cloud.servers(ids, signal))];
    const found = new Map(all.filter(([, { flaw }]) => flaw === undefined));
    const flawed = all.flatMap(([, server]) => (server.flaw === undefined ? [] : [server]));
    return { found, flawed, trouble: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    const trouble = { reason: reasonOf(error, 'NovaServerError'), message: error.message };
    return { found: new Map(), flawed: [], trouble };
  }
}

/** Subnets that are not selected, but hold further addresses, of families that are wanted, of ports that are. */
async function readOtherSubnets(
  { cloud, subnets, config }: Pick<ObserveInput, 'cloud' | 'subnets' | 'config'>,
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

/** What could be read; the plan keeps what it knows of the rest, and says so where it matters. */
async function readable<T>(reads: readonly Promise<Found<T>>[], signal: AbortSignal): Promise<T[]> {
  const settled = await Promise.allSettled(reads);
  signal.throwIfAborted();
  return settled.flatMap((read) => {
    if (read.status === 'fulfilled') return read.value.kind === 'found' ? [read.value.value] : [];
    if (isRequestError(read.reason)) return [];
    throw read.reason;
  });
}
