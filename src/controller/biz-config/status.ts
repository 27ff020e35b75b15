import type { BizConfigStatus, BizNodeStatus } from '../../api/multinicbizconfig.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { BizConfig } from '../../biz-config/biz-config.ts';
import { nodeNotReady } from '../objects/unready-nodes.ts';
import { type ConditionsInput, conditionsOf } from './conditions.ts';
import { nodeStatusOf } from './node-status.ts';
import { handledRemovals } from './removal.ts';

/**
 * Size limit for one object as JSON, in bytes, above which `nodeStatuses` is shortened; etcd accepts 1.5 MiB including
 * managedFields.
 */
const maxBytes = Math.floor(1.4 * 1024 * 1024);

export type StatusInput = Omit<ConditionsInput, 'summary' | 'unready' | 'observed'>;

/** Returns the whole status of a MultiNicBizConfig. Pure. */
export function statusOf(input: StatusInput): BizConfigStatus {
  const { source, mode, plan, nodes, now } = input;
  const nodeStatuses = nodes.map((node) => nodeStatusOf(node, plan.held.why));
  const count = (state: BizNodeStatus['state']) =>
    nodeStatuses.filter((node) => node.state === state).length;
  const [configuredNodes, failedNodes] = [count('Configured'), count('Failed')];
  const totalNodes = nodes.length;
  const summary = {
    totalNodes,
    configuredNodes,
    failedNodes,
    pendingNodes: totalNodes - configuredNodes - failedNodes,
  };
  const { specHash } = source.spec ?? {};
  const status: BizConfigStatus = {
    observedGeneration: source.metadata.generation ?? 0,
    ...(specHash === undefined ? {} : { observedSpecHash: specHash }),
    conditions: conditionsOf({
      ...input,
      summary,
      unready: unreadyIn(nodeStatuses),
      observed: count('Observed'),
    }),
    summary,
    ...defined(handledRemovals(source, mode.kind === 'active', now)),
  };
  return withNodes(source, status, nodeStatuses);
}

/** Returns the names of pending nodes that have not been ready. */
function unreadyIn(nodes: readonly BizNodeStatus[]): string[] {
  return nodes.flatMap(({ state, reason, attachedNodeId = '', attachedNodeName }) =>
    state === 'Pending' && reason === nodeNotReady ? [attachedNodeName ?? attachedNodeId] : [],
  );
}

function withNodes(source: BizConfig, status: BizConfigStatus, nodes: BizNodeStatus[]) {
  const { status: _, ...rest } = source;
  const left = maxBytes - bytesOf(rest) - bytesOf(status);
  const unfinished = nodes.filter(({ state }) => state !== 'Configured');
  const listed = [nodes, unfinished].find((list) => bytesOf(list) <= left) ?? [];
  return { ...status, nodeStatuses: listed };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Keys removed by a merge patch when missing in the new status. */
const optionalKeys = [
  'observedSpecHash',
  'allowedRemovals',
  'allowedRemovalsGeneration',
  'allowedRemovalsAt',
] as const;

/** Returns the merge patch to the new status; undefined: no change. */
export function statusPatch({ metadata, status }: BizConfig, next: BizConfigStatus): unknown {
  if (isSameJson(status, next)) return undefined;
  const dropped = optionalKeys.filter((key) => next[key] === undefined);
  return {
    metadata: { uid: metadata.uid },
    status: { ...Object.fromEntries(dropped.map((key) => [key, null])), ...next },
  };
}

function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;
}
