import { type BudgetUse, exceededBudget } from '../../api/removals.ts';
import type { Change, Store } from '../../kube/cache/store.ts';
import { keyOf, refOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { recordOf } from '../jobs/applied.ts';
import { deletedAt, type NodeConfig, type Stores } from '../objects/stores.ts';
import { successorOf } from '../records/meaning.ts';
import { findTarget } from '../target.ts';
import { Counted, clusterBudgets, configBudget, type Tallies, type Totals } from './counts.ts';
import type { LedgerEntry, RemovalLedger } from './ledger.ts';
import { staysFor } from './losses.ts';
import {
  type ActiveShare,
  configUidOf,
  openLosses,
  packed,
  shareOf,
  unpacked,
  type Weight,
} from './shares.ts';

/** Budget use in this business cluster. */
export interface Budget {
  /** Follows the object store; call once. */
  follow(configs: Pick<Store<NodeConfig>, 'subscribe'>): void;
  /**
   * Returns the use of each budget for an object that would lose these NICs: removals in the last hour from records and
   * ledger, all open acts, and the NICs themselves. Parses no other object unless a budget is exceeded.
   */
  useFor(
    config: NodeConfig,
    macs: readonly string[],
    entries: readonly LedgerEntry[],
  ): readonly BudgetUse[];
  /** Returns the business cluster's budget use, including planned acts. */
  clusterUse(
    entries: readonly LedgerEntry[],
    planned?: readonly PlannedLoss[],
  ): readonly BudgetUse[];
}

/** Budget use with planned acts, as far as the removals of the last hour are known. */
export type BudgetCount =
  | { readonly kind: 'counted'; usesWith(planned: readonly PlannedLoss[]): readonly BudgetUse[] }
  | { readonly kind: 'unknown'; readonly why: string };

/** NICs lost by a planned act, not written yet. */
export interface PlannedLoss {
  readonly config: NodeConfig;
  readonly macs: readonly string[];
}

export interface BudgetOptions {
  readonly stores: Pick<Stores, 'configs' | 'nodes' | 'nodeDirectory' | 'meaning'>;
  readonly ledger: Pick<RemovalLedger, 'version'>;
  readonly clock: Clock;
}

/** Time for which a count is reused, if no object and no ledger entry changed or a budget is exceeded. */
const countedForMs = 1_000;

export function createBudget({ stores, ledger, clock }: BudgetOptions): Budget {
  const weights = new Map<string, Weight>();
  /** Counted removals by key, as text: ten thousand objects may be deleted at once. */
  const active = new Map<string, string>();
  /** Nodes of objects with a different name, by key. */
  const nodes = new Map<string, string>();
  /** Whether the open act of an object counts, by key. Objects for the same node decide this too. */
  const examined = new Map<string, boolean>();
  /** Keys in `examined` by node of the open act. */
  const examinedOn = new Map<string, Set<string>>();
  /** Distinct weights: thousands of objects share one. */
  const distinct = new Map<string, Weight>();
  let changes = 0;
  let last: { readonly tallies: Tallies; readonly key: string; readonly at: number } | undefined;

  function take({ type, key, object }: Change<NodeConfig>): void {
    const share = type === 'deleted' ? undefined : shareOf(object, clock.now());
    const node = share?.node;
    if (share) weights.set(key, interned(share, weights.get(key)));
    else weights.delete(key);
    if (node === undefined || node === object.metadata.name) nodes.delete(key);
    else nodes.set(key, node);
    examined.delete(key);
    if (examined.size > 0) examineAgain(object, node);
    takeActive(key, share?.active && packed(share.active));
  }

  /** An object that appears, changes or goes may be the successor of another object for its node. */
  function examineAgain(object: NodeConfig, node: string | undefined): void {
    const target = findTarget(object, stores.nodeDirectory);
    const named = target.kind === 'none' ? [] : [target.node.metadata.name];
    for (const one of new Set([...named, node ?? object.metadata.name])) {
      for (const key of examinedOn.get(one) ?? []) examined.delete(key);
      examinedOn.delete(one);
    }
  }

  /** Ignores status writes that change no removal. */
  function takeActive(key: string, text: string | undefined): void {
    if (text === active.get(key)) return;
    changes += 1;
    if (text === undefined) active.delete(key);
    else active.set(key, text);
  }

  function interned({ config, nics }: Weight, before: Weight | undefined): Weight {
    if (before?.config === config && before.nics === nics) return before;
    const text = `${nics} ${config}`;
    const weight = distinct.get(text) ?? { config, nics };
    distinct.set(text, weight);
    return weight;
  }

  /** Returns nodes and NICs in the cluster; objects whose Node is gone do not enlarge the budget. */
  function totalsNow(): Totals {
    const names = new Set<string>();
    const ofConfigs = new Map<string, number>();
    let all = 0;
    for (const [key, { nics, config }] of weights) {
      const node = nodes.get(key) ?? refOf(key).name;
      if (nics === 0 || stores.nodes.versionOf(node) === undefined) continue;
      names.add(node);
      all += nics;
      if (config !== '') ofConfigs.set(config, (ofConfigs.get(config) ?? 0) + nics);
    }
    return { nodes: names, nics: all, ofConfigs };
  }

  /** Counts removals in the last hour, and the open acts that count. */
  function count(
    entries: readonly LedgerEntry[],
    totals: Totals,
    counts: (key: string) => boolean,
  ): Counted {
    const now = clock.now().getTime();
    const counted = new Counted(totals);
    for (const { node, config = '', macs } of entries) {
      for (const mac of macs) counted.addGone(config, node, mac);
    }
    for (const [key, text] of active) {
      const weight = weights.get(key);
      if (weight) counted.addActive(weight.config, unpacked(text), now, () => counts(key));
    }
    return counted;
  }

  /**
   * Counts precisely only if a budget looks exceeded: that parses the objects with open acts. An exceeded budget is
   * reused even after changes: a mass deletion would otherwise count all objects once per object.
   */
  function usesNow(
    entries: readonly LedgerEntry[],
    usesIn: (tallies: Tallies) => readonly BudgetUse[],
  ): readonly BudgetUse[] {
    const now = clock.monotonicMs();
    const key = `${changes} ${ledger.version}`;
    if (last && now - last.at < countedForMs) {
      const uses = usesIn(last.tallies);
      if (last.key === key || exceededBudget(uses)) return uses;
    }
    const totals = totalsNow();
    const rough = count(entries, totals, () => true).tallies();
    const isOver = exceededBudget(usesOf(rough)) !== undefined;
    const tallies = isOver ? count(entries, totals, isActOn).tallies() : rough;
    last = { tallies, key, at: now };
    return usesIn(tallies);
  }

  /**
   * True if the object's act removes NICs from a node. Deletions with a successor listing the NICs, and changed node
   * references, are no named acts. A missing Node may register again: the act still counts.
   */
  function isActOn(key: string): boolean {
    const known = examined.get(key);
    if (known !== undefined) return known;
    const config = stores.configs.get(key);
    if (!config) return false;
    const counts = hasNamedLoss(config, stores, clock.now());
    examined.set(key, counts);
    const target = findTarget(config, stores.nodeDirectory);
    if (target.kind === 'none') return counts;
    const { name } = target.node.metadata;
    examinedOn.set(name, (examinedOn.get(name) ?? new Set()).add(key));
    return counts;
  }

  /** Returns NICs of the object that count already. */
  function countedOf(config: NodeConfig): ActiveShare['pending'] {
    const text = active.get(keyOf(config));
    if (text === undefined || !isActOn(keyOf(config))) return [];
    const now = clock.now().getTime();
    return unpacked(text).pending.filter(({ from }) => from <= now);
  }

  /**
   * Adds NICs of an object missing in the count: the gate decides with fresh data, such as a successor or the end of a
   * consent.
   */
  function withOwn(
    uses: readonly BudgetUse[],
    config: NodeConfig,
    macs: readonly string[],
  ): readonly BudgetUse[] {
    const counted = countedOf(config).map(({ mac }) => mac);
    const missing = macs.filter((mac) => !counted.includes(mac)).length;
    if (missing === 0) return uses;
    const moreNodes = counted.length > 0 ? 0 : 1;
    return uses.map((use) => ({
      ...use,
      used: use.used + (use.scope === 'clusterNodes' ? moreNodes : missing),
    }));
  }

  return {
    follow: (configs) => void configs.subscribe(take, { replay: true }),
    useFor(config, macs, entries) {
      const own = configUidOf(config);
      const uses = usesNow(entries, (tallies) => [
        ...clusterBudgets(tallies),
        ...(own === '' ? [] : [configBudget(own, tallies)]),
      ]);
      return withOwn(uses, config, macs);
    },
    clusterUse(entries, planned = []) {
      if (planned.length === 0) return usesNow(entries, clusterBudgets);
      const all = count(entries, totalsNow(), isActOn);
      for (const { config, macs } of planned) {
        const share = shareOf(config, clock.now());
        for (const mac of macs) all.add(share.config, share.node, mac, false);
      }
      return clusterBudgets(all.tallies());
    },
  };
}

function usesOf(all: Tallies): BudgetUse[] {
  const configs = [...all.ofConfigs.keys()].map((config) => configBudget(config, all));
  return [...clusterBudgets(all), ...configs];
}

type Context = Pick<Stores, 'configs' | 'nodeDirectory' | 'meaning'>;

/** True if spec or deletion removes the object's NICs from an existing node, as a named act. */
function hasNamedLoss(config: NodeConfig, stores: Context, now: Date): boolean {
  const target = findTarget(config, stores.nodeDirectory);
  if (target.kind === 'none') return true;
  const { node } = target;
  const record = recordOf(config);
  if (record && record.nodeName !== node.metadata.name) return deletedAt(config) !== undefined;
  const successor = deletedAt(config) ? successorOf(config, node, stores as Stores) : undefined;
  return openLosses(config, now, staysFor(successor, config)).length > 0;
}
