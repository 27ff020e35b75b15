import { nodeConfigState } from '../../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { factsOf } from '../../clusters/deliver/node-facts.ts';
import type { ConfigMemory, TermMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import type { SyncContent } from '../../model/sync-content.ts';
import type { SyncResult } from '../result.ts';

const knownStates: ReadonlySet<string> = new Set(nodeConfigState.options);

/** Number by state. */
type Counts = ReadonlyMap<string, number>;

/** An OpenstackConfig's nodes and NICs by the state in the business cluster. */
export interface DeliveredCounts {
  readonly providerId: string;
  readonly nodes: Counts;
  readonly interfaces: Counts;
  /** NICs whose removal needs a user's approval. */
  readonly blockedRemovals: number;
}

type States = Pick<DeliveredCounts, 'nodes' | 'interfaces'>;

const lastStates = new Slot<SyncContent, States | undefined>(() => undefined);

/** Counts the nodes and NICs found by a sync of all servers; states are counted once per content. */
export function deliveredCounts(synced: SyncResult, providerId: string): DeliveredCounts {
  const states = lastStates.of(synced.content) ?? statesOf(synced);
  lastStates.set(synced.content, states);
  const isHeld = synced.problems.some(({ reason }) => reason === 'RemovalHeld');
  const unconfirmed = synced.nodes.flatMap(({ removals }) => removals.unconfirmed);
  return { ...states, providerId, blockedRemovals: isHeld ? unconfirmed.length : 0 };
}

function statesOf(synced: SyncResult): States {
  const held = new Map(synced.held.map((node) => [node.nodeName, node]));
  // A foreign node counts for its own OpenstackConfig.
  const nodes = synced.nodes.filter(({ isForeign }) => !isForeign);
  const states = nodes.map(({ nodeName }) => stateOf(held.get(nodeName)));
  const interfaces = nodes.flatMap((node) =>
    interfaceStatesOf(held.get(node.nodeName), node.interfaces),
  );
  return { nodes: count(states), interfaces: count(interfaces) };
}

/** Memories of OpenstackConfigs (`namespace/name`) for metrics. */
export type DeliveredMemories = Iterable<readonly [string, Pick<ConfigMemory, 'term'>]>;

/** Sums the OpenstackConfigs' counts by business cluster, with a sum for every API state. */
export function totalDelivered(
  memories: DeliveredMemories,
  what: 'nodes' | 'interfaces',
): ReadonlyMap<string, Counts> {
  const totals = new Map<string, Map<string, number>>();
  for (const [, { term }] of memories) {
    const last = lastDelivered.of(term);
    if (last === undefined) continue;
    const total = totals.get(last.providerId) ?? zeros();
    totals.set(last.providerId, total);
    for (const [state, n] of last[what]) total.set(state, (total.get(state) ?? 0) + n);
  }
  return totals;
}

function zeros(): Map<string, number> {
  return new Map(nodeConfigState.options.map((state) => [state, 0]));
}

/** Returns the OpenstackConfigs with blocked removals, most NICs first. */
export function blockedRemovals(
  memories: DeliveredMemories,
): readonly { readonly key: string; readonly count: number }[] {
  const all = [...memories].map(([key, { term }]) => ({
    key,
    count: lastDelivered.of(term)?.blockedRemovals ?? 0,
  }));
  return all.filter(({ count: n }) => n > 0).toSorted((a, b) => b.count - a.count);
}

function stateOf(node: ExistingNodeConfig | undefined): string {
  return known(node?.status?.state);
}

interface Entry {
  readonly id?: number | undefined;
  readonly name?: string | undefined;
}

/** A NIC without a status is Pending, and a NIC of unknown state too. */
function interfaceStatesOf(
  node: ExistingNodeConfig | undefined,
  planned: readonly Entry[],
): readonly string[] {
  if (!node) return planned.map(() => 'Pending');
  const { interfaces = [] } = node.spec;
  const { configured } = factsOf(node);
  return planned.map(({ id, name }) => {
    const isIt = (entry: Entry) => entry.id === id || entry.name === name;
    if (configured[interfaces.findIndex(isIt)]) return 'Configured';
    const state = known(node.status?.interfaceStatuses?.find(isIt)?.status);
    return state === 'Configured' ? 'Pending' : state;
  });
}

/** Unknown states count as Pending: a foreign status must not add series. */
function known(state: string | undefined): string {
  return state !== undefined && knownStates.has(state) ? state : 'Pending';
}

function count(states: readonly string[]): Counts {
  return new Map(
    [...Map.groupBy(states, (state) => state)].map(([state, all]) => [state, all.length]),
  );
}

/** Counts for metrics; undefined: no sync of all servers has completed in this term. */
export const lastDelivered = new Slot<TermMemory, DeliveredCounts | undefined>(() => undefined);
