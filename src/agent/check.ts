import type { JobRequest, NicResult } from '../api/job.ts';
import type { Context } from './apply/context.ts';
import type { JournalEntry } from './apply/memory.ts';
import { planAll } from './planning/plan.ts';
import type { Refusal } from './planning/refusals.ts';
import { isDone, type Unit, unitLines } from './planning/unit.ts';
import { refusedResult, unitResult } from './result.ts';
import type { Snapshot } from './snapshot.ts';
import type { AgentState } from './state.ts';

/** What a host is compared with: the request, what state.json says, and what an interrupted run left in hand. */
export interface Wanted {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly journals: readonly JournalEntry[];
  /** As of a plan. */
  readonly receives?: ReadonlyMap<string, readonly string[]>;
}

/**
 * Each NIC of the request, or of state.json: `Configured` or `Removed` where an apply would do nothing, `Drifted` with what
 * it would do, or why it would refuse. Nothing is changed, and no interrupted change is ended.
 */
export function compare(host: Snapshot, wanted: Wanted, context: Context): NicResult[] {
  const { journals, ...asked } = wanted;
  const inHand = new Map(journals.map(({ mac, step }) => [mac, interrupted(step)]));
  const { backend, run, log } = context;
  const plan = planAll({ ...asked, host, backend, bootId: run.bootId, inHand });
  // A result has room for 120 bytes a NIC.
  for (const unit of [...plan.removal.units, ...plan.apply.units]) {
    const { mac } = unit.target;
    log.info({ mac, action: unit.action, steps: unitLines(unit) }, 'plan');
  }
  const planned = [plan.removal, plan.apply].flatMap(({ units, refused }) => [
    ...units.map(compared),
    ...refused.map(refusedResult),
  ]);
  const told = new Set(planned.map(({ mac }) => mac));
  const others = journals.filter(({ mac }) => !told.has(mac));
  const inDoubt = others.map(({ mac, index, step }) =>
    refusedResult({ target: { mac, index }, name: '', refusal: interrupted(step) }),
  );
  return [...planned, ...inDoubt].toSorted((a, b) => a.index - b.index);
}

function compared(unit: Unit): NicResult {
  return unitResult(unit, isDone(unit) ? undefined : drifted(workOf(unit)));
}

/** Settings last: there is room for a few lines, and traffic minds addresses, routes and rules more. */
function workOf({ change, ...unit }: Unit): string {
  const { sysctls } = change;
  const rest = unitLines({ ...unit, change: { ...change, sysctls: [] } });
  const writes = unitLines({ ...unit, change }).slice(0, sysctls.length);
  return [...rest, ...writes].join('; ');
}

function interrupted(step: JournalEntry['step']): Refusal {
  return drifted(`end an interrupted change (${step})`);
}

function drifted(work: string): Refusal {
  return { reason: 'Drifted', message: `an apply would: ${work}` };
}
