import { isIPv4 } from '../../api/address.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import type { Found, Network, Port, Server, Subnet } from '../../openstack/resources.ts';
import type { Observation } from '../../plan/observation.ts';
import { isRequestError } from '../../requests/request-error.ts';
import { openstackFailure, reasonOf, type Trouble } from '../status/step-failure.ts';
import type { ChosenSubnets } from './choose-subnets.ts';
import type { PortDirectory } from './port-directory.ts';
import type { ServerSightings } from './server-sightings.ts';

export interface ObserveInput {
  readonly cloud: Cloud;
  readonly ports: PortDirectory;
  readonly sightings: ServerSightings;
  /** The OpenstackConfig, as the port directory knows it. */
  readonly member: string;
  readonly serverIds: readonly string[];
  readonly subnets: ChosenSubnets;
  /** How old a shared listing may be; 0 = listed for this sync. */
  readonly maxAgeMs: number;
}

export interface Look {
  readonly observation: Observation;
  readonly troubles: readonly Trouble[];
}

/**
 * Looks at the servers of an OpenstackConfig. Throws when the ports cannot be read; everything else that fails is left
 * out of the observation, which means unknown, and reported.
 */
export async function observe(input: ObserveInput, signal: AbortSignal): Promise<Look> {
  const { cloud, serverIds, subnets, sightings } = input;
  const [ports, servers] = await Promise.all([
    input.ports
      .portsOf(input.member, serverIds, input.maxAgeMs, signal)
      .catch((error: unknown) => fail(error, signal)),
    readServers(cloud, serverIds, signal),
  ]);
  const chosen = new Set(subnets.ids);
  const selected = ports.filter((port) => port.fixedIps.some((ip) => chosen.has(ip.subnetId)));
  const [others, networks, missingServers] = await Promise.all([
    readOtherSubnets(cloud, selected, subnets, signal),
    readNetworks(cloud, selected, signal),
    servers.trouble ? [] : sightings.missing(cloud, serverIds, servers.found, signal),
  ]);
  return {
    observation: {
      servers: [...servers.found.values()],
      missingServers,
      ports,
      subnets: [...subnets.found, ...others],
      networks,
    },
    troubles: servers.trouble ? [servers.trouble] : [],
  };
}

function fail(error: unknown, signal: AbortSignal): never {
  signal.throwIfAborted();
  throw openstackFailure(error, 'NeutronPortError');
}

interface Servers {
  readonly found: ReadonlyMap<string, Server>;
  readonly trouble: Trouble | undefined;
}

/** Names are kept as they are while Nova fails. */
async function readServers(
  cloud: Cloud,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Servers> {
  try {
    return { found: await cloud.servers(ids, signal), trouble: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!isRequestError(error)) throw error;
    const trouble = { reason: reasonOf(error, 'NovaServerError'), message: error.message };
    return { found: new Map(), trouble };
  }
}

/** Subnets that are not selected, but hold further IPv4 addresses of ports that are. */
async function readOtherSubnets(
  cloud: Cloud,
  ports: readonly Port[],
  { ids }: ChosenSubnets,
  signal: AbortSignal,
): Promise<Subnet[]> {
  const chosen = new Set(ids);
  const others = new Set<string>();
  for (const { ipAddress, subnetId } of ports.flatMap(({ fixedIps }) => fixedIps)) {
    if (!chosen.has(subnetId) && isIPv4(ipAddress)) others.add(subnetId);
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
