import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Clock } from '../../time/clock.ts';
import type { Stores } from '../objects/stores.ts';
import type { CountRemovals } from '../removals/count-removals.ts';
import { type CarriedOut, carryOut, nothingDone } from './carry-out.ts';
import type { Observed } from './holders.ts';
import type { LiveObjects } from './live-objects.ts';
import { type Mode, modeOf } from './mode.ts';
import type { NodeOutcome } from './node-status.ts';
import { observe } from './observe.ts';
import { Ownerships } from './ownerships.ts';
import { type ExpansionPlan, planExpansion } from './plan.ts';
import { hasNewValue } from './removal.ts';
import type { BizReporter } from './report.ts';
import { statusOf } from './status.ts';
import { findSource, type GroupWatch } from './watch.ts';

/** Minimum interval between two reconciles of an unchanged source: a thousand changed nodes cause one reconcile. */
const visitEveryMs = 5_000;

interface BizReconcilerOptions {
  readonly watches: readonly GroupWatch[];
  readonly stores: Pick<Stores, 'configs' | 'configDirectory'>;
  readonly live: LiveObjects;
  readonly reporter: BizReporter;
  readonly setting: 'active' | 'read-only';
  readonly countRemovals: CountRemovals;
  readonly clock: Clock;
}

/** The last reconcile of a source. */
interface Visit {
  readonly ownerships: Ownerships;
  /** The source's resourceVersion afterwards; undefined: unfinished. */
  readonly version: string | undefined;
  /** Time of the next reconcile for this version, on the monotonic clock. */
  readonly dueMs: number;
}

/** Expands a MultiNicBizConfig into MultiNicNodeConfigs, and reports their state in its status. */
export function createBizReconciler(options: BizReconcilerOptions) {
  const { watches, stores, live, reporter, setting, countRemovals, clock } = options;
  const visits = new Map<string, Visit>();

  return async function reconcile(key: string, signal: AbortSignal): Promise<Outcome | void> {
    const { watch, name } = findSource(watches, key);
    const restMs = restOf(visits.get(key), watch.store.versionOf(name));
    if (restMs > 0) return { requeueAfterMs: restMs };
    const source = watch.store.get(name);
    // A source deleted or in deletion leaves its objects unchanged.
    if (!source || source.metadata.deletionTimestamp !== undefined) return forget(key);
    const ownerships = begin(key);

    const mode = modeOf(source, setting);
    const budget = await countRemovals(signal);
    const observed = { ...observe(source, watch.group, stores, ownerships), budget };
    const plan = await decide(observed, mode, ownerships, signal);
    const defersRemovals = hasNewValue(source);
    const context = { live, ownerships, observed, defersRemovals, signal };
    const carried = mode.kind === 'active' ? await carryOut(plan, context) : nothingDone;
    const nodes = outcomes(observed, plan, carried);
    const { refusals } = carried;
    const status = statusOf({ source, mode, plan, nodes, refusals, now: clock.now() });
    const reported = await reporter.write(watch, source, status, signal);

    const isUnknown = budget.kind === 'unknown' && plan.held.names.length > 0;
    const recountMs = isUnknown ? visitEveryMs : undefined;
    const againInMs = soonest(carried.againInMs, reported.againInMs, recountMs);
    end(key, ownerships, watch.store.versionOf(name), againInMs);
    return againInMs === undefined ? undefined : { requeueAfterMs: againInMs };
  };

  function restOf(last: Visit | undefined, version: string | undefined): number {
    if (last?.version === undefined || last.version !== version) return 0;
    return last.dueMs - clock.monotonicMs();
  }

  function begin(key: string): Ownerships {
    const ownerships = visits.get(key)?.ownerships ?? new Ownerships();
    visits.set(key, { ownerships, version: undefined, dueMs: 0 });
    return ownerships;
  }

  function end(
    key: string,
    ownerships: Ownerships,
    version: string | undefined,
    againInMs = visitEveryMs,
  ): void {
    const dueMs = clock.monotonicMs() + Math.min(againInMs, visitEveryMs);
    visits.set(key, { ownerships, version, dueMs });
  }

  function forget(key: string): void {
    visits.delete(key);
    reporter.forget(key);
  }

  /** Verifies ownership on the API server before a plan removes NICs, because any user can write labels. */
  async function decide(
    observed: Observed,
    mode: Mode,
    ownerships: Ownerships,
    signal: AbortSignal,
  ): Promise<ExpansionPlan> {
    ownerships.keep(observed.labelled);
    const plan = planExpansion(observed, clock.now());
    if (mode.kind !== 'active' || plan.losing.length === 0) return plan;
    const isChanged = await ownerships.read(live, plan.losing, observed.marks, signal);
    return isChanged ? planExpansion(observed, clock.now()) : plan;
  }

  /** Combines plan and current objects: some were just written, or changed by an agent meanwhile. */
  function outcomes(
    { source }: Observed,
    { nodes }: ExpansionPlan,
    { failures, open }: CarriedOut,
  ): NodeOutcome[] {
    const { namespace = '' } = source.metadata;
    return nodes.map((node) => {
      const { object, step, entry } = node;
      const name = step.kind === 'write' ? step.write.metadata.name : object?.metadata.name;
      const current =
        name === undefined ? undefined : stores.configs.get(keyOf({ namespace, name }));
      const { position } = entry;
      const failure = failures.get(position);
      return { ...node, object: current, failure, isOpen: open.has(position) };
    });
  }
}

function soonest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
