import type { Cloud } from '../../../openstack/cloud.ts';
import type { Port, PortRecord } from '../../../openstack/resources.ts';
import { loginOf } from '../../cloud/credentials/identity.ts';
import { ownerOf } from '../../model/openstack-config.ts';
import type { LimitedReads } from './limited-reads.ts';
import { isUnread } from './nodes.ts';
import type { PortQuery } from './port-query.ts';
import type { ReadDeps } from './read-deps.ts';
import type { VisibleConfig } from './visible-configs.ts';

/** Lane for Neutron; a business cluster has its provider id. */
const portLane = 'neutron ports';

export interface PortSearch {
  readonly deps: ReadDeps;
  readonly limited: LimitedReads;
}

/** Port read from Neutron for this request. */
export interface CloudPort {
  readonly port: Port | PortRecord;
  readonly cloudName: string;
  /** Undefined: the network could not be read. */
  readonly networkName: string | undefined;
}

interface SearchResult {
  readonly found: readonly CloudPort[];
  /** Failed accounts, each with OpenstackConfig and cause. */
  readonly failures: readonly string[];
}

/**
 * Reads ports with the OpenstackConfigs' accounts. An administrator sees all projects: only ports in the account's own
 * project count, and ports already read by a sync in `synced`.
 */
export async function searchPorts(
  query: PortQuery,
  configs: readonly VisibleConfig[],
  search: PortSearch & { readonly synced: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<SearchResult> {
  const usable = configs.filter(({ object }) => object.metadata.deletionTimestamp === undefined);
  if (usable.length === 0) return { found: [], failures: configs.map(unusedAccount) };
  const reads = await Promise.all(
    oneOfEach(usable).map(async (config) => readAs(config, query, search, signal)),
  );
  const found = reads.flatMap((read) => read.found);
  const byPort = new Map(found.map((one) => [`${one.cloudName} ${one.port.id}`, one]));
  return { found: [...byPort.values()], failures: reads.flatMap((read) => read.failures) };
}

function unusedAccount({ key }: VisibleConfig): string {
  return `${key}: it is being deleted, so its account is not used any more`;
}

/** Returns an OpenstackConfig per account. */
function oneOfEach(configs: readonly VisibleConfig[]): VisibleConfig[] {
  return [...new Map(configs.map((config) => [accountKey(config), config])).values()];
}

function accountKey({ object, resolved }: VisibleConfig): string {
  const { credentials, openstack } = resolved ?? {};
  return JSON.stringify([object.metadata.namespace, credentials, openstack]);
}

async function readAs(
  { key, object, resolved }: VisibleConfig,
  query: PortQuery,
  { deps, limited, synced }: PortSearch & { readonly synced: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<SearchResult> {
  if (resolved === undefined) {
    return {
      found: [],
      failures: [`${key}: its settings cannot be used, see its Ready condition`],
    };
  }
  const { namespace } = ownerOf(object);
  try {
    return await limited.run(
      portLane,
      async (limit) => {
        const { identity } = await loginOf(resolved, namespace, deps, limit);
        const cloud = deps.clouds.get(identity);
        const ports = await portsIn(cloud, query, limit);
        const own = ports.filter((port) => synced.has(key) || port.projectId === cloud.projectId);
        const found = own.map(async (port) => ({
          port,
          cloudName: cloud.name,
          networkName: await networkName(cloud, port, limit),
        }));
        return { found: await Promise.all(found), failures: [] };
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isUnread(error)) throw error;
    return { found: [], failures: [`${key}: ${error.message}`] };
  }
}

async function portsIn(
  cloud: Cloud,
  query: PortQuery,
  signal: AbortSignal,
): Promise<readonly (Port | PortRecord)[]> {
  if (!('portId' in query)) return cloud.projectPorts(query, signal);
  const found = await cloud.portRecord(query.portId, signal);
  return found.kind === 'found' ? [found.value] : [];
}

/** Returns the network's name; undefined: unnamed, or the network cannot be read. */
async function networkName(
  cloud: Cloud,
  { networkId }: Port,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const found = await cloud.network(networkId, signal);
    return found.kind === 'found' && found.value.name !== '' ? found.value.name : undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!isUnread(error)) throw error;
    return undefined;
  }
}
