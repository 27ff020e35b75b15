import type * as z from 'zod';
import { rfc3339 } from '../../../api/condition.ts';
import type { NodeView, nodesQuery, nodeViews } from '../../../api/read-http.ts';
import { reasons } from '../../../api/reasons.ts';
import { HttpProblem } from '../../../http/problem.ts';
import { unknownWord } from '../../../process/nearest.ts';
import { isRequestError } from '../../../requests/request-error.ts';
import { DeadlineReached } from '../../../time/deadline.ts';
import { generationOf, ownerOf } from '../../model/openstack-config.ts';
import { StepFailure } from '../../model/step-failure.ts';
import { type ConfigReads, type NodeRow, viewOf } from './config-reads.ts';
import type { LimitedReads } from './limited-reads.ts';
import { nodeViewOf, objectOf, plannedOf } from './node-view.ts';
import { optional } from './optional.ts';
import { pageOf } from './page-token.ts';
import type { ReadDeps } from './read-deps.ts';
import type { VisibleConfig } from './visible-configs.ts';

interface Found {
  readonly reads: ConfigReads;
  readonly row: NodeRow;
}

/** Returns a page with the matching nodes, ordered by business cluster and name. */
export function listNodes(
  configs: readonly VisibleConfig[],
  { providerId, state, reason, config, ...page }: z.infer<typeof nodesQuery>,
): z.infer<typeof nodeViews> {
  const reads = configs
    .flatMap((one) => one.reads ?? [])
    .filter((one) => is(config, one.config) && is(providerId, one.providerId));
  if (reason) refuseUnknownReason(reason, configs);
  const found = reads.flatMap((one) =>
    one.rows
      .filter((row) => is(state, row.state) && is(reason, row.reason))
      .map((row): Found => ({ reads: one, row })),
  );
  const { items, next } = pageOf(found, placeOf, page);
  return {
    items: items.map((item) => viewOf(item.reads, item.row)),
    ...optional({ continue: next }),
  };
}

/** A newer controller may report a reason outside the table. */
function refuseUnknownReason(reason: string, configs: readonly VisibleConfig[]): void {
  const rows = configs.flatMap(({ reads }) => reads?.rows ?? []);
  const known = [...Object.keys(reasons), ...rows.map((row) => row.reason)];
  const why = known.includes(reason) ? undefined : unknownWord('reason', reason, known);
  if (why !== undefined) throw new HttpProblem(400, 'InvalidRequest', why);
}

function is(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value;
}

function placeOf({ reads, row }: Found): readonly string[] {
  return [reads.providerId, row.nodeName, reads.config];
}

interface NodeName {
  readonly providerId: string;
  readonly nodeName: string;
}

/** Returns a node from the last sync. Throws 404. */
export function findNode(configs: readonly VisibleConfig[], name: NodeName): NodeView {
  const { reads, row } = foundNode(configs, name);
  return viewOf(reads, row);
}

/** Reads a node through Viola. Throws 404, or 503 if the business cluster could not be read. */
export async function readNode(
  configs: readonly VisibleConfig[],
  name: NodeName,
  { deps, limited }: { readonly deps: ReadDeps; readonly limited: LimitedReads },
  signal: AbortSignal,
): Promise<NodeView> {
  const { reads, row, config } = foundNode(configs, name);
  const { providerId, nodeName } = name;
  const { object } = config;
  const source = { ...ownerOf(object), generation: generationOf(object) };
  try {
    const existing = await limited.run(
      providerId,
      async (limit) => {
        const viola = await deps.violas.of(reads.viola, providerId, source);
        return viola.get(nodeName, limit);
      },
      signal,
    );
    const at = rfc3339(deps.clock.now());
    const view = nodeViewOf(plannedOf(viewOf(reads, row)), { existing, at });
    return existing === undefined ? view : { ...view, object: objectOf(existing) };
  } catch (error) {
    signal.throwIfAborted();
    if (!isUnread(error)) throw error;
    const detail = `node "${nodeName}" of business cluster "${providerId}" could not be read: ${error.message}; the last answer is of ${reads.at}`;
    throw new HttpProblem(503, 'NodeUnread', detail, { cause: error, retryAfterSeconds: 5 });
  }
}

/** Returns whether a service failed, in contrast to an error in the program. */
export function isUnread(error: unknown): error is Error {
  return isRequestError(error) || error instanceof StepFailure || error instanceof DeadlineReached;
}

/** Returns the node with this name; among several, prefers a node with an object. */
function foundNode(
  configs: readonly VisibleConfig[],
  { providerId, nodeName }: NodeName,
): Found & { readonly config: VisibleConfig } {
  const found = configs.flatMap((config) => {
    const { reads } = config;
    if (reads?.providerId !== providerId) return [];
    const row = reads.rows.find((one) => one.nodeName === nodeName);
    return row ? [{ config, reads, row }] : [];
  });
  const node = found.find(({ row }) => row.state !== 'Unknown') ?? found[0];
  if (node) return node;
  const detail = `no OpenstackConfig delivers a node "${nodeName}" to business cluster "${providerId}" as of the last syncs; GET /v1/nodes lists the nodes`;
  throw new HttpProblem(404, 'NoSuchNode', detail);
}
