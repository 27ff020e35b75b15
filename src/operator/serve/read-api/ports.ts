import type * as z from 'zod';
import { rfc3339 } from '../../../api/condition.ts';
import { namedSome } from '../../../api/named-some.ts';
import type { PortView, portViews } from '../../../api/read-http.ts';
import { HttpProblem } from '../../../http/problem.ts';
import type { Port as NeutronPort, PortRecord } from '../../../openstack/resources.ts';
import type { Port } from '../../../plan/observation.ts';
import type { ConfigReads } from './config-reads.ts';
import { optional } from './optional.ts';
import { configsOf } from './port-configs.ts';
import { isWanted, type PortQuery } from './port-query.ts';
import { type CloudPort, type PortSearch, searchPorts } from './port-search.ts';
import type { VisibleConfig } from './visible-configs.ts';

/** Port known to the last syncs. */
interface SyncedPort {
  readonly port: Port;
  /** Last syncs with this port's server, the latest first. */
  readonly reads: readonly ConfigReads[];
}

/**
 * Returns the matching ports from the last syncs, otherwise from Neutron. A search by id always reads Neutron, because
 * users look up recently changed ports.
 */
export async function findPorts(
  query: PortQuery,
  configs: readonly VisibleConfig[],
  search: PortSearch,
  signal: AbortSignal,
): Promise<z.infer<typeof portViews>> {
  const synced = syncedPorts(query, configs);
  const trigger = search.deps.triggers.mode;
  if (synced.length > 0 && !('portId' in query)) {
    return { items: synced.map((one) => syncedView(one, configs, trigger)) };
  }
  const holders = new Set(synced.flatMap(({ reads }) => reads.map(({ config }) => config)));
  const asked = holders.size === 0 ? configs : configs.filter(({ key }) => holders.has(key));
  const { found, failures } = await searchPorts(
    query,
    asked,
    { ...search, synced: holders },
    signal,
  );
  if (found.length > 0) {
    return { items: found.map((one) => readView(one, synced, configs, search)) };
  }
  // Neutron may have no such port any more, or could not be read: the last sync still knows the port.
  if (failures.length > 0 && synced.length > 0) {
    return { items: synced.map((one) => syncedView(one, configs, trigger)) };
  }
  if (failures.length > 0) throw unread(failures);
  throw new HttpProblem(404, 'NoSuchPort', noSuchPort);
}

const noSuchPort =
  'no such port: neither the last syncs nor the accounts of the OpenstackConfigs know it; compare the value with `openstack port list`';

function unread(failures: readonly string[]): HttpProblem {
  const shown = namedSome(failures, 3, { separator: '; ' });
  const detail = `the last syncs do not know this port, and Neutron could not be read: ${shown}; correct that, or repeat the request`;
  return new HttpProblem(503, 'PortUnread', detail, { retryAfterSeconds: 5 });
}

/** Finds ports in the last syncs, each port once per cloud. */
function syncedPorts(query: PortQuery, configs: readonly VisibleConfig[]): SyncedPort[] {
  const found = configs.flatMap(({ reads }) =>
    reads
      ? reads.ports.filter((port) => isWanted(port, query)).map((port) => ({ port, reads }))
      : [],
  );
  const byPort = Map.groupBy(found, ({ port, reads }) => `${reads.cloud?.name} ${port.id}`);
  return [...byPort.values()].flatMap((all) => {
    const [latest] = all.toSorted((a, b) => Date.parse(b.reads.at) - Date.parse(a.reads.at));
    return latest ? [{ port: latest.port, reads: all.map(({ reads }) => reads) }] : [];
  });
}

function syncedView(
  { port, reads }: SyncedPort,
  configs: readonly VisibleConfig[],
  trigger: string,
): PortView {
  const [first] = reads;
  const { cloud, decidedAt: at = '' } = first ?? {};
  const networkName = reads.map((one) => one.networkNames.get(port.networkId)).find(Boolean);
  const projectId = projectOf(port) || (cloud?.projectId ?? '');
  return {
    ...portFields(port),
    ...optional({ networkName }),
    readAt: at,
    source: 'sync',
    ...ofSyncs(port, { cloudName: cloud?.name ?? '', projectId }, configs, trigger),
  };
}

function readView(
  { port, cloudName, networkName }: CloudPort,
  synced: readonly SyncedPort[],
  configs: readonly VisibleConfig[],
  { deps }: PortSearch,
): PortView {
  const known = synced.flatMap(({ reads }) => reads);
  const name =
    networkName ?? known.map((one) => one.networkNames.get(port.networkId)).find(Boolean);
  const place = { cloudName, projectId: port.projectId };
  return {
    ...portFields(port),
    ...optional({ networkName: name }),
    ...('adminStateUp' in port ? { adminStateUp: port.adminStateUp } : {}),
    readAt: rfc3339(deps.clock.now()),
    source: 'neutron',
    ...ofSyncs(port, place, configs, deps.triggers.mode),
  };
}

function portFields(port: Port | NeutronPort | PortRecord) {
  const { id, macAddress, fixedIps, networkId, status, deviceId, deviceOwner, createdAt } = port;
  return {
    portId: id,
    macAddress,
    addresses: fixedIps.map(({ subnetId, ipAddress }) => ({ subnetId, ip: ipAddress })),
    networkId,
    status,
    deviceId,
    deviceOwner,
    ...optional({ createdAt }),
  };
}

/** The port directory's ports have a project, unused by plans. */
function projectOf(port: Port & { readonly projectId?: string }): string {
  return port.projectId ?? '';
}

interface Place {
  readonly cloudName: string;
  readonly projectId: string;
}

type OfSyncs = Pick<PortView, 'configs' | 'verdict' | 'node' | 'delivery' | 'serverName'>;

/** Returns the last syncs' decisions about a port and the port's server. */
function ofSyncs(
  port: Port,
  { cloudName, projectId }: Place,
  configs: readonly VisibleConfig[],
  trigger: string,
): OfSyncs {
  const reads = configs
    .flatMap((one) => one.reads ?? [])
    .filter(({ cloud }) => cloud === undefined || cloud.name === cloudName);
  const { deviceId } = port;
  const subnetIds = port.fixedIps.map(({ subnetId }) => subnetId);
  const serverName = reads.map(({ servers }) => servers.get(deviceId)?.name).find(Boolean);
  const verdict = verdictOf(port, reads);
  const owner =
    reads.find(({ config, nodeNames }) => config === verdict?.config && nodeNames.has(deviceId)) ??
    reads.find(({ nodeNames }) => nodeNames.has(deviceId));
  return {
    configs: configsOf({ deviceId, subnetIds, projectId, cloudName }, configs, trigger),
    ...optional({ serverName, verdict }),
    ...(owner === undefined ? {} : nodeIn(owner, deviceId)),
  };
}

/** Returns the decision closest to a NIC: a NIC, then a selected subnet, then a selected server. */
function verdictOf({ id, deviceId }: Port, reads: readonly ConfigReads[]): PortView['verdict'] {
  const decided = reads.flatMap(({ config, decidedAt: at, verdicts }) => {
    // A port moved to a different server has no decision yet.
    const verdict = verdicts.find(deviceId, id);
    return verdict ? [{ config, at, verdict }] : [];
  });
  const [best] = decided.toSorted((a, b) => nearness(b.verdict) - nearness(a.verdict));
  if (best === undefined) return undefined;
  const { nic, reason, message } = best.verdict;
  return { config: best.config, ...optional({ nic, reason, message }), at: best.at };
}

function nearness({ nic, address }: { nic?: string; address?: string }): number {
  return Number(nic !== undefined) * 2 + Number(address !== undefined);
}

function nodeIn(
  { providerId, nodeNames, undelivered, decidedAt: at }: ConfigReads,
  serverId: string,
): Pick<PortView, 'node' | 'delivery'> {
  const nodeName = nodeNames.get(serverId) ?? '';
  const delivery = undelivered.get(nodeName) ?? { ok: true };
  return { node: { providerId, nodeName }, delivery: { ...delivery, at } };
}
