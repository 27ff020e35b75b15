import { rfc3339 } from '../../../api/condition.ts';
import type { NodeView } from '../../../api/read-http.ts';
import { keyOf } from '../../../kube/object.ts';
import type { Observation } from '../../../plan/observation.ts';
import type { NodePlan, Problem } from '../../../plan/plan.ts';
import { nextTurn } from '../../../process/slices.ts';
import type { Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import type { DeliveredContext } from '../../flow/sync/delivery.ts';
import type { ConfigMemories } from '../../model/memory/config-memory.ts';
import { SharedTexts } from '../../model/packing/texts.ts';
import type { PackedVerdicts } from '../../model/packing/verdicts.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import { lastPlan } from '../what-if/stored-plan.ts';
import {
  type ConfigReads,
  configReads,
  type NodeDelivery,
  type NodeRow,
  type NodeTotals,
} from './config-reads.ts';
import { nodesOf } from './nodes-of-sync.ts';
import { packNode } from './packed-node.ts';

/** Nodes packed per event-loop turn: each takes about 50 µs. */
const turnSize = 50;

/** Serves a full sync's nodes. A term that began during the sync has no plan yet, and serves the next sync. */
export async function publishReads(
  context: DeliveredContext,
  content: SyncContent,
  now: Date,
): Promise<void> {
  const { term } = context.memory;
  const plan = lastPlan.of(term);
  if (plan) configReads.set(term, await readsOf(context, content, plan.verdicts, now));
}

/** Stops serving at the end of a leadership term: the next leader serves the read API. */
export function withdrawReads(memories: ConfigMemories): void {
  for (const [, { term }] of memories) configReads.set(term, undefined);
}

/** Returns the read API's data from a full sync. */
async function readsOf(
  context: DeliveredContext,
  content: SyncContent,
  verdicts: PackedVerdicts,
  now: Date,
): Promise<ConfigReads> {
  const { config, source, memory, connections, planned, rounds } = context;
  const { input } = planned;
  const { cloud } = connections.view;
  const { observation, selection } = input;
  const at = rfc3339(now);
  const key = keyOf(source);
  const last = configReads.of(memory.term);
  const nodes = () => nodesOf({ ...context, config: key, providerId: config.providerId, at });
  // Equal content: only the dates differ, and rows contain no sync date.
  const { rows, totals, texts, nodeNames, undelivered } =
    last?.content === content
      ? last
      : {
          ...(await rowsOf(nodes())),
          nodeNames: nodeNamesOf(rounds),
          undelivered: undeliveredIn(context),
        };
  return {
    config: key,
    providerId: config.providerId,
    viola: config.viola,
    cloud: { name: cloud.name, projectId: cloud.projectId, selection },
    at,
    decidedAt: at,
    rows,
    totals,
    texts,
    content,
    ports: observation.ports,
    servers: new Map(observation.servers.map((server) => [server.id, server])),
    networkNames: namesOf(observation),
    verdicts,
    nodeNames,
    undelivered,
  };
}

/** Packs and counts nodes. */
export async function rowsOf(
  nodes: Iterable<NodeView>,
): Promise<Pick<ConfigReads, 'rows' | 'totals' | 'texts'>> {
  const texts = new SharedTexts();
  const rows: NodeRow[] = [];
  const totals = new Sums();
  for (const node of nodes) {
    if (rows.length > 0 && rows.length % turnSize === 0) await nextTurn();
    totals.add(node);
    rows.push(rowOf(node, texts));
  }
  return { rows, totals, texts };
}

/** Packs a node. */
export function rowOf(node: NodeView, texts: SharedTexts): NodeRow {
  const { nodeName, state, reason } = node;
  const packed = packNode(node, texts);
  const shared = (text: string) => texts.textOf(texts.numberOf(text));
  return { nodeName, state: shared(state), reason: shared(reason), packed };
}

class Sums implements NodeTotals {
  nodes = 0;
  readonly nics = new Map<string, number>();
  drifted = 0;
  oldestCheck: string | undefined;

  add({ nics, drifted, checkedAt }: NodeView): void {
    this.nodes += 1;
    for (const { state } of nics) this.nics.set(state, (this.nics.get(state) ?? 0) + 1);
    if (drifted) this.drifted += 1;
    if (checkedAt === undefined) return;
    if (this.oldestCheck === undefined || Date.parse(checkedAt) < Date.parse(this.oldestCheck)) {
      this.oldestCheck = checkedAt;
    }
  }
}

function namesOf({ networks }: Observation): ReadonlyMap<string, string> {
  return new Map(networks.flatMap(({ id, name }) => (name ? [[id, name] as const] : [])));
}

function nodeNamesOf({ nodes }: Rounds): ReadonlyMap<string, string> {
  const own = nodes.filter(({ isForeign }) => !isForeign);
  return new Map(own.map(({ instanceId, nodeName }) => [instanceId, nodeName]));
}

function undeliveredIn({ rounds, planned }: DeliveredContext): ReadonlyMap<string, NodeDelivery> {
  const { delivery, nodes } = rounds;
  const waiting = nodes.filter(({ waiting: waits }) => waits);
  const held = planned.plan.problems.filter(({ reason }) => reason === 'RemovalHeld');
  return new Map<string, NodeDelivery>([
    ...waiting.map((node): [string, NodeDelivery] => [node.nodeName, waitOf(node)]),
    ...delivery.waiting.map((nodeName): [string, NodeDelivery] => [nodeName, changing]),
    ...held.flatMap((problem) => heldNode(problem, nodes)),
    ...delivery.failures.map(({ nodeName, reason, message }): [string, NodeDelivery] => [
      nodeName,
      { ok: false, reason, message },
    ]),
  ]);
}

const changing: NodeDelivery = {
  ok: false,
  reason: 'Waiting',
  message: 'the MultiNicNodeConfig is being changed or deleted',
};

function waitOf({ why }: NodePlan): NodeDelivery {
  return { ok: false, reason: 'Waiting', message: why };
}

/** Returns the node with the blocked removal. */
function heldNode(
  { subject, reason, message }: Problem,
  nodes: readonly NodePlan[],
): [string, NodeDelivery][] {
  const node = nodes.find(({ nodeName }) => subject === `node ${nodeName}`);
  return node ? [[node.nodeName, { ok: false, reason, message }]] : [];
}
