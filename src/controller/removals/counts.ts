import { type BudgetUse, budgetWindowMs } from '../../api/removals.ts';
import type { ActiveShare } from './shares.ts';

export interface Totals {
  /** Nodes with NICs. */
  readonly nodes: ReadonlySet<string>;
  readonly nics: number;
  /** NICs by uid of the OpenstackConfig. */
  readonly ofConfigs: ReadonlyMap<string, number>;
}

/** Numbers of counted nodes and NICs. */
interface Tally {
  readonly nodes: number;
  readonly nics: number;
  readonly goneNics: number;
}

const noTally: Tally = { nodes: 0, nics: 0, goneNics: 0 };

export interface Tallies {
  readonly totals: Totals;
  /** Counted nodes without NICs. */
  readonly goneNodes: number;
  readonly cluster: Tally;
  /** By uid of the OpenstackConfig. */
  readonly ofConfigs: ReadonlyMap<string, Tally>;
}

/** Counted nodes and NICs, including removed NICs; the total includes removed NICs too. */
class Counts {
  readonly nodes = new Set<string>();
  readonly nics = new Set<string>();
  goneNics = 0;

  /** A NIC counts once, also after its object was deleted and created again. */
  add(node: string, nic: string, isGone: boolean): void {
    if (this.nics.has(nic)) return;
    this.nodes.add(node);
    this.nics.add(nic);
    if (isGone) this.goneNics += 1;
  }

  tally(): Tally {
    const { nodes, nics, goneNics } = this;
    return { nodes: nodes.size, nics: nics.size, goneNics };
  }
}

export class Counted {
  readonly cluster = new Counts();
  /** By uid of the OpenstackConfig. */
  readonly ofConfigs = new Map<string, Counts>();
  readonly #totals: Totals;

  constructor(totals: Totals) {
    this.#totals = totals;
  }

  /** Adds a removed NIC without an object that lists it. On a node with NICs it may be one of these again. */
  addGone(config: string, node: string, mac: string): void {
    this.add(config, node, mac, !this.#totals.nodes.has(node));
  }

  add(config: string, node: string, mac: string, isGone: boolean): void {
    const nic = `${node} ${mac}`;
    this.cluster.add(node, nic, isGone);
    if (config === '') return;
    const own = this.ofConfigs.get(config) ?? new Counts();
    this.ofConfigs.set(config, own);
    own.add(node, nic, isGone);
  }

  /** Adds removals in the last hour, and the open act if it counts. */
  addActive(config: string, active: ActiveShare, now: number, counts: () => boolean): void {
    const { node, started, pending } = active;
    const recent = started.filter(({ at }) => at > now - budgetWindowMs);
    for (const { mac, isGone, node: other } of recent) {
      if (other === undefined) this.add(config, node, mac, isGone);
      else this.addGone(config, other, mac);
    }
    const open = pending.filter(({ from }) => from <= now);
    if (open.length === 0 || !counts()) return;
    for (const { mac } of open) this.add(config, node, mac, false);
  }

  tallies(): Tallies {
    const ofConfigs = [...this.ofConfigs].map(([uid, counts]) => [uid, counts.tally()] as const);
    const totals = this.#totals;
    const goneNodes = [...this.cluster.nodes].filter((node) => !totals.nodes.has(node)).length;
    return { totals, goneNodes, cluster: this.cluster.tally(), ofConfigs: new Map(ofConfigs) };
  }
}

/** Returns the use of the cluster's budgets. */
export function clusterBudgets({ cluster, goneNodes, totals }: Tallies): BudgetUse[] {
  const { nodes, nics, goneNics } = cluster;
  return [
    { scope: 'clusterNodes', used: nodes, total: totals.nodes.size + goneNodes },
    { scope: 'clusterNics', used: nics, total: totals.nics + goneNics },
  ];
}

/** Returns the use of an OpenstackConfig's budget. */
export function configBudget(config: string, { ofConfigs, totals }: Tallies): BudgetUse {
  const { nics, goneNics } = ofConfigs.get(config) ?? noTally;
  const total = (totals.ofConfigs.get(config) ?? 0) + goneNics;
  return { scope: 'configNics', used: nics, total };
}
