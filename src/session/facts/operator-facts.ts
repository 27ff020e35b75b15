import type { z } from 'zod';
import { inventoryPath, type ObservedRecord, observedRecords } from '../../api/inventory-http.ts';
import {
  type ClusterView,
  clusterViews,
  type NodeView,
  nodeView,
  nodeViews,
  type PortView,
  portViews,
  readPaths,
} from '../../api/read-http.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import type { Fact } from '../../explain/fact.ts';
import { ApiError } from '../access/api-error.ts';
import { grantReader } from '../access/grants.ts';
import { usualHomes } from '../access/operator-home.ts';
import type { Session } from '../access/session.ts';
import { type FactAbout, factOf } from './unread.ts';

/** Describes a fact from the operator's API. */
export function aboutOperator(session: Session, what: Wording): FactAbout {
  const namespace = session.options.operatorNamespace ?? usualHomes[0];
  return { what, source: 'operator', grant: grantReader(namespace) };
}

export function readClusters(session: Session): Promise<Fact<ClusterView[]>> {
  return factOf(session, aboutOperator(session, accessTexts.businessClusters), async () =>
    (await session.operator()).pages(readPaths.clusters, clusterViews),
  );
}

export type NodeFilter = Readonly<
  Partial<Record<'providerId' | 'state' | 'reason' | 'config', string>>
>;

export function readNodes(session: Session, filter: NodeFilter = {}): Promise<Fact<NodeView[]>> {
  return factOf(session, aboutOperator(session, accessTexts.nodes), async () =>
    (await session.operator()).pages(readPaths.nodes, nodeViews, { ...filter }),
  );
}

/** Limit for a node read through Viola, in the loops for `sync` and `diff` (ms). */
const freshReadMs = 70_000;

/** Reads a node through Viola; undefined: no OpenstackConfig delivers the node. */
export function readFreshNode(
  session: Session,
  node: Pick<NodeView, 'providerId' | 'nodeName'>,
  ms = freshReadMs,
): Promise<Fact<NodeView | undefined>> {
  const { providerId, nodeName } = node;
  return factOf(
    session,
    {
      ...aboutOperator(session, filled(accessTexts.node, { providerId, nodeName })),
      provider: providerId,
    },
    async () =>
      unlessAbsent('NoSuchNode', async () =>
        (await session.operator()).get(nodePath(node), nodeView, { fresh: 'true' }, ms),
      ),
  );
}

/** Reads a node's delivered NICs with all fields; undefined: nothing was delivered. */
export function readDesiredNode(
  session: Session,
  { providerId, nodeName }: Pick<NodeView, 'providerId' | 'nodeName'>,
): Promise<Fact<ObservedRecord | undefined>> {
  const about = aboutOperator(session, filled(accessTexts.node, { providerId, nodeName }));
  return factOf(session, about, async () => {
    const api = await session.operator();
    const records = await api.get(inventoryPath, observedRecords, { providerId, nodeName });
    return records[0];
  });
}

function nodePath({ providerId, nodeName }: Pick<NodeView, 'providerId' | 'nodeName'>) {
  return `${readPaths.nodes}/${encodeURIComponent(providerId)}/${encodeURIComponent(nodeName)}`;
}

export type PortQuery = Readonly<
  Partial<Record<'portId' | 'mac' | 'address' | 'serverId', string>>
>;

/** Reads ports; an empty list: no account sees such a port. */
export function readPorts(session: Session, query: PortQuery): Promise<Fact<PortView[]>> {
  const value = Object.values(query).join(' ');
  return factOf(session, aboutOperator(session, filled(accessTexts.port, { value })), async () => {
    const found = await unlessAbsent('NoSuchPort', async () =>
      (await session.operator()).get(readPaths.ports, portViews as z.ZodType<PortViews>, {
        ...query,
      }),
    );
    return found?.items ?? [];
  });
}

interface PortViews {
  readonly items: PortView[];
}

/** Returns undefined for an answer with this reason. */
export async function unlessAbsent<T>(
  reason: string,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return undefined;
    throw error;
  }
}
