import type { JobRequest, NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import { socketOn } from './apply/handover.ts';
import type { JournalEntry } from './apply/memory.ts';
import { planAll } from './planning/plan.ts';
import type { Refusal } from './planning/refusals.ts';
import { isDone, type Plan, removalHolds, type Unit, unitLines } from './planning/unit.ts';
import { refusedResult, unitResult } from './result.ts';
import type { Snapshot } from './snapshot.ts';
import type { AgentState } from './state.ts';

/** Input for a comparison: request, state.json content, and journals left by an interrupted run. */
export interface Wanted {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly journals: readonly JournalEntry[];
  /** Same as in `PlanInput`. */
  readonly receives?: ReadonlyMap<string, readonly string[]>;
}

/**
 * Returns a result per NIC in the request or state.json: `Configured` or `Removed` if an apply would do nothing, else
 * `Drifted` with the pending changes, or the refusal. Changes nothing, and ends no interrupted change.
 */
export function compare(host: Snapshot, wanted: Wanted, context: Context): NicResult[] {
  const { journals, ...asked } = wanted;
  const inHand = new Map(journals.map(({ mac, step }) => [mac, interrupted(step)]));
  const { backend, run, log } = context;
  const bus = socketOn(context);
  const plan = planAll({ ...asked, host, backend, bus, bootId: run.bootId, inHand });
  // A result has room for 120 bytes per NIC.
  for (const unit of [...plan.removal.units, ...plan.apply.units]) {
    const { mac } = unit.target;
    log.info({ mac, action: unit.action, steps: unitLines(unit) }, 'plan');
  }
  const held = removalHolds([plan.removal, plan.apply]);
  if (held.length > 0) log.info({ held }, 'RemovalHeld');
  const unlisted = resultsOf(plan.removal);
  const planned = [...unlisted, ...resultsOf(plan.apply)];
  const reported = new Set(planned.map(({ mac }) => mac));
  const others = journals.filter(({ mac }) => !reported.has(mac));
  const unplanned = others.map(({ mac, index, step }) =>
    refusedResult({ target: { mac, index }, name: '', refusal: interrupted(step) }),
  );
  const staying = new Set(unlisted.filter(({ state }) => state === 'Held'));
  return [...planned, ...unplanned].toSorted(
    (a, b) => Number(staying.has(a)) - Number(staying.has(b)) || a.index - b.index,
  );
}

function resultsOf({ units, refused }: Plan): NicResult[] {
  return [...units.map(compared), ...refused.map(refusedResult)];
}

function compared(unit: Unit): NicResult {
  return unitResult(unit, isDone(unit) ? undefined : drifted(workOf(unit)));
}

/** Puts settings last: the message has room for a few lines, and addresses, routes and rules matter more to traffic. */
function workOf({ change, ...unit }: Unit): string {
  const { sysctls } = change;
  const rest = unitLines({ ...unit, change: { ...change, sysctls: [] } });
  const writes = unitLines({ ...unit, change }).slice(0, sysctls.length);
  return [...rest, ...writes].join('; ');
}

function interrupted(step: JournalEntry['step']): Refusal {
  return drifted(`complete an interrupted change (${step})`);
}

function drifted(work: string): Refusal {
  return { reason: 'Drifted', message: `an apply would: ${work}` };
}
