import { nodeConfigState } from '../../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import type { SyncResult } from '../sync/result.ts';

const knownStates: ReadonlySet<string> = new Set(nodeConfigState.options);

/** How many are in each state. */
type Counts = ReadonlyMap<string, number>;

/** What the last look at one OpenstackConfig found of its nodes. */
interface Found {
  readonly nodes: Counts;
  readonly interfaces: Counts;
  /** NICs that would be removed if somebody agreed. */
  readonly held: number;
}

/** The nodes and NICs of all OpenstackConfigs, as their business clusters say they are. */
export class Fleet {
  readonly #found = new Map<string, Found>();

  note(key: string, synced: SyncResult): void {
    const held = new Map(synced.held.map((node) => [node.nodeName, node]));
    // The nodes of another OpenstackConfig count there.
    const nodes = synced.nodes.filter(({ isForeign }) => !isForeign);
    const states = nodes.map(({ nodeName }) => stateOf(held.get(nodeName)));
    const interfaces = nodes.flatMap((node) =>
      node.interfaces.map(({ id, name }) =>
        interfaceStateOf(held.get(node.nodeName), { id, name }),
      ),
    );
    const isHeld = synced.troubles.some(({ reason }) => reason === 'RemovalHeld');
    const unconfirmed = synced.nodes.flatMap(({ removals }) => removals.unconfirmed);
    const heldBack = isHeld ? unconfirmed.length : 0;
    this.#found.set(key, { nodes: count(states), interfaces: count(interfaces), held: heldBack });
  }

  forget(key: string): void {
    this.#found.delete(key);
  }

  /** Another process may have delivered meanwhile. */
  clear(): void {
    this.#found.clear();
  }

  total(what: 'nodes' | 'interfaces'): Counts {
    const total = new Map<string, number>(nodeConfigState.options.map((state) => [state, 0]));
    for (const { [what]: counts } of this.#found.values()) {
      for (const [state, n] of counts) total.set(state, (total.get(state) ?? 0) + n);
    }
    return total;
  }

  /** OpenstackConfigs with removals that are held back, most of them first. */
  held(): readonly { readonly key: string; readonly count: number }[] {
    const all = [...this.#found].map(([key, { held }]) => ({ key, count: held }));
    return all.filter(({ count: n }) => n > 0).toSorted((a, b) => b.count - a.count);
  }
}

function stateOf(node: ExistingNodeConfig | undefined): string {
  return known(node?.status?.state);
}

type Entry = { readonly id: number | undefined; readonly name: string | undefined };

/** A NIC that the status says nothing of has not been worked on yet. */
function interfaceStateOf(node: ExistingNodeConfig | undefined, { id, name }: Entry): string {
  const entries = node?.status?.interfaceStatuses ?? [];
  return known(entries.find((entry) => entry.id === id || entry.name === name)?.status);
}

/** Other words would be other series: whoever writes a status may write any. */
function known(state: string | undefined): string {
  return state !== undefined && knownStates.has(state) ? state : 'Pending';
}

function count(states: readonly string[]): Counts {
  return new Map(
    [...Map.groupBy(states, (state) => state)].map(([state, all]) => [state, all.length]),
  );
}
