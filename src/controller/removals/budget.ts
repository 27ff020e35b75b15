import { type BudgetUse, exceededBudget } from '../../api/removals.ts';
import type { Change, Store } from '../../kube/cache/store.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import type { NodeConfig, Stores } from '../objects/stores.ts';
import { clusterBudgets, configBudget, type Tallies } from './counts.ts';
import type { RemovalLedger } from './ledger.ts';
import type { LedgerEntry } from './ledger-buckets.ts';
import { NamedActs } from './named-acts.ts';
import { ObjectShares } from './object-shares.ts';
import { configUidOf, shareOf } from './shares.ts';

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

interface BudgetOptions {
  readonly stores: Pick<Stores, 'configs' | 'nodes' | 'nodeDirectory' | 'meaning'>;
  readonly ledger: Pick<RemovalLedger, 'version'>;
  readonly clock: Clock;
}

/** Time for which a count is reused, if no object and no ledger entry changed or a budget is exceeded. */
const countedForMs = 1_000;

export function createBudget({ stores, ledger, clock }: BudgetOptions): Budget {
  const shares = new ObjectShares(stores.nodes);
  const namedActs = new NamedActs(stores, clock);
  const isNamed = (key: string): boolean => namedActs.has(key);
  let last: { readonly tallies: Tallies; readonly key: string; readonly at: number } | undefined;

  function take(change: Change<NodeConfig>): void {
    const { key, object } = change;
    namedActs.drop(key, object, shares.take(change, clock.now()));
  }

  /**
   * Counts precisely only if a budget looks exceeded: that parses the objects with open acts. An exceeded budget is
   * reused even after changes: a mass deletion would otherwise count all objects once per object.
   */
  function usesNow(
    entries: readonly LedgerEntry[],
    usesIn: (tallies: Tallies) => readonly BudgetUse[],
  ): readonly BudgetUse[] {
    const at = clock.monotonicMs();
    const key = `${shares.version} ${ledger.version}`;
    if (last && at - last.at < countedForMs) {
      const uses = usesIn(last.tallies);
      if (last.key === key || exceededBudget(uses)) return uses;
    }
    const totals = shares.totals();
    const now = clock.now();
    const rough = shares.count(entries, totals, () => true, now).tallies();
    const isOver = exceededBudget(usesOf(rough)) !== undefined;
    const tallies = isOver ? shares.count(entries, totals, isNamed, now).tallies() : rough;
    last = { tallies, key, at };
    return usesIn(tallies);
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
    const key = keyOf(config);
    const pending = shares.pendingOf(key, clock.now());
    const counted = pending.length > 0 && isNamed(key) ? pending.map(({ mac }) => mac) : [];
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
      const now = clock.now();
      const all = shares.count(entries, shares.totals(), isNamed, now);
      for (const { config, macs } of planned) {
        const share = shareOf(config, now);
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
