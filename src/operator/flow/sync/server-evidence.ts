import type { Cloud } from '../../../openstack/cloud.ts';
import type { ServerRecord } from '../../../openstack/resources.ts';
import type { ServerEvidence } from '../../../plan/observation.ts';
import { mapBounded } from '../../../process/bounded.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import type { Random } from '../../../time/clock.ts';
import type { ObservedServers } from '../../cloud/observe/cloud-view.ts';
import { hasMetadata } from '../../cloud/observe/servers.ts';
import type { ServerSelector } from '../../model/resolve/servers.ts';
import { randomSample } from './random-sample.ts';

/** Sources of evidence about servers. */
export interface ServerWitness {
  readonly cloud: Pick<Cloud, 'portsOf' | 'server' | 'serverTags' | 'wasDeleted'>;
  readonly observedServers: Pick<ObservedServers, 'hasObservedOwn'>;
  /** Names: selected live servers. */
  readonly liveNames?: ReadonlySet<string>;
}

/** Reads a server by id. A 404 counts as deleted only if the account has observed the server before. */
export async function readServer(
  {
    cloud,
    observedServers,
  }: Pick<ServerWitness, 'observedServers'> & {
    readonly cloud: Pick<Cloud, 'server' | 'wasDeleted'>;
  },
  serverId: string,
  signal: AbortSignal,
): Promise<ServerRecord | 'deleted' | 'unknown'> {
  const server = await cloud.server(serverId, signal);
  if (server.kind === 'found') return server.value.status === 'DELETED' ? 'deleted' : server.value;
  // Nova also answers 404 if the account may not read the server.
  if (observedServers.hasObservedOwn(serverId)) return 'deleted';
  return (await cloud.wasDeleted(serverId, signal)) ? 'deleted' : 'unknown';
}

/** Most servers read by id per sync; remaining servers wait for the next sync. */
export const serversPerSync = 50;
const readsAtOnce = 4;

interface Evidence {
  readonly serverEvidence: readonly ServerEvidence[];
  /** False if a read failed, or if the plan needs more evidence than one sync reads. */
  readonly complete: boolean;
}

/** Reads whether deselected servers with delivered nodes have left the selection. */
export async function readServerEvidence(
  witness: ServerWitness,
  selector: ServerSelector,
  serverIds: readonly string[],
  random: Random,
  signal: AbortSignal,
): Promise<Evidence> {
  let complete = serverIds.length <= serversPerSync;
  const sample = randomSample(serverIds, serversPerSync, random);
  const judged = async (serverId: string): Promise<ServerEvidence> => {
    try {
      return { serverId, verdict: await judge(witness, selector, serverId, signal) };
    } catch (error) {
      signal.throwIfAborted();
      // A failed read proves nothing.
      if (!isRequestError(error)) throw error;
      complete = false;
      return { serverId, verdict: 'unconfirmed' };
    }
  };
  const serverEvidence = await mapBounded(sample, readsAtOnce, judged, signal);
  return { serverEvidence, complete };
}

async function judge(
  witness: ServerWitness,
  selector: ServerSelector,
  serverId: string,
  signal: AbortSignal,
): Promise<ServerEvidence['verdict']> {
  const server = await readServer(witness, serverId, signal);
  if (server === 'deleted') return verdictOfDeleted(witness, serverId, signal);
  if (server === 'unknown') return 'unconfirmed';
  const verdict = await verdictOfPresent(witness, server, selector, signal);
  if (verdict !== 'selected' || server.status !== 'SOFT_DELETED') return verdict;
  // A replacement with the name needs the node.
  return witness.liveNames?.has(server.name) ? 'left' : 'softDeleted';
}

async function verdictOfPresent(
  witness: ServerWitness,
  server: ServerRecord,
  { ids, names, carrying }: ServerSelector,
  signal: AbortSignal,
): Promise<'selected' | 'left' | 'unconfirmed'> {
  const { id: serverId } = server;
  if (ids.includes(serverId) || names.includes(server.name)) return 'selected';
  if (carrying === undefined || !hasMetadata(server, carrying.metadata)) return 'left';
  if (carrying.tags.length === 0) return 'selected';
  const tags = await witness.cloud.serverTags(serverId, signal);
  if (tags.kind === 'notFound') return 'unconfirmed';
  return carrying.tags.every((tag) => tags.value.includes(tag)) ? 'selected' : 'left';
}

/** An account without Nova rights still reads ports in Neutron; a leftover port needs Nova's deletion list. */
async function verdictOfDeleted(
  { cloud }: ServerWitness,
  serverId: string,
  signal: AbortSignal,
): Promise<ServerEvidence['verdict']> {
  const ports = await cloud.portsOf([serverId], signal);
  const isGone = ports.length === 0 || (await cloud.wasDeleted(serverId, signal));
  return isGone ? 'deleted' : 'unconfirmed';
}
