import { findCondition, rfc3339 } from '../../api/condition.ts';
import type { JobResult } from '../../api/job.ts';
import { isSameJson } from '../../api/same-json.ts';
import { type Applied, recordOf } from '../jobs/applied.ts';
import { isNews, otherFamilyIn } from '../jobs/family.ts';
import { contentHash } from '../jobs/request.ts';
import type { Run } from '../jobs/runner.ts';
import { machineOf } from '../objects/machine.ts';
import { isOn } from '../removals/known.ts';
import { isAbout } from '../scheduling/schedule.ts';
import type { Task } from '../scheduling/task.ts';
import { asApplied } from '../status/conditions.ts';
import { showsObserved } from '../status/observed.ts';
import { outcomeLabel } from '../status/report.ts';
import type { RunPhase } from '../status/run-phase.ts';
import { observedContent } from './check-basis.ts';
import { drifted, driftIn, knownFromCheck } from './check-findings.ts';
import { type Conclude, type ConcludeOptions, shows } from './conclude.ts';
import { checkedAs, pauseOf } from './drift.ts';
import type { DriftCheck } from './drift-check.ts';

/**
 * Creates the report after a check in mode Observe: every result leaves the node unchanged. The record from an earlier
 * agent run stays, because the run's NICs stay on the node.
 */
export function createConcludeObserved(options: Omit<ConcludeOptions, 'policy'>): Conclude {
  const { runner, confirmations, clock, metrics, intervalMs } = options;
  return async (check, result, run, signal) => {
    const { task, key, applied } = check;
    metrics.count('multinic_job_results_total', {
      outcome: outcomeLabel({ kind: 'result', result }),
    });
    const now = clock.now();
    const end = { result, run, now };
    const next = withOtherFamily(check, end);
    if (next) {
      task.report.tell({ kind: 'recorded' }, next);
      return { requeueAfterMs: 0 };
    }
    const record = recordAfter(check, end);
    const isStored = isSameFinding(applied, record) && isShown(task, result);
    if (isStored && confirmations.repeats(key, applied, result)) {
      await runner.remove(run, signal);
      return { requeueAfterMs: pauseOf(applied, intervalMs()) };
    }
    const { nics, known } = result;
    const isOfRecord = isOfOwnRecord(task);
    const checked: RunPhase = { kind: 'recorded', check: { nics, known, isOfRecord, at: now } };
    task.report.tell(checked, record, driftOf(task, result));
    confirmations.wrote(key, record, result);
    return { requeueAfterMs: pauseOf(record, intervalMs()) };
  };
}

/** A finished check with its result. */
interface CheckEnd {
  readonly result: JobResult;
  readonly run: Run;
  readonly now: Date;
}

/** Returns the record for a second check if the host has another network manager than guessed; undefined: as guessed. */
function withOtherFamily(check: DriftCheck, end: CheckEnd): Applied | undefined {
  const { action, triedFamilies: before = [], foundFamily: last } = check.applied;
  const { family } = end.run;
  const foundFamily = otherFamilyIn({ kind: 'result', result: end.result }, family);
  const triedFamilies = [...new Set([...before, ...(last ? [last] : []), family])];
  if (action !== 'check' || !isNews(foundFamily, { family, triedFamilies })) return undefined;
  const { checkedContent: _, ...record } = recordOfCheck(check, end);
  return { ...record, foundFamily, triedFamilies };
}

function recordAfter(check: DriftCheck, end: CheckEnd): Applied {
  const { task, applied, occasion } = check;
  const { result, run, now } = end;
  const known = isOfOwnRecord(task) ? knownFromCheck(applied, result, run.name) : {};
  const record = applied.action === 'check' ? recordOfCheck(check, end) : { ...applied, ...known };
  const checkedContent = observedContent(task.node, task.contents);
  return { ...checkedAs(record, occasion, now), checkedContent };
}

/** True if agent runs for this object have changed the checked machine: the record lists NICs on this machine only. */
function isOfOwnRecord({ report, node }: Task): boolean {
  return isOn(report.config, node);
}

/** Returns the record for a node with checks and no other agent run. */
function recordOfCheck({ task, applied }: DriftCheck, { result, run, now }: CheckEnd): Applied {
  const { node, contents } = task;
  const { machineId: _i, foundFamily: _f, triedFamilies: _t, ...rest } = applied;
  const { nodeName, nodeUid, machineId } = machineOf(node);
  return {
    ...rest,
    content: contentHash(node, contents),
    nodeName,
    nodeUid,
    ...(machineId ? { machineId } : {}),
    job: run.name,
    attempt: run.attempt,
    protocol: result.protocol,
    family: run.family,
    at: rfc3339(now),
  };
}

/** True if the records differ only in Job name and time. */
function isSameFinding(before: Applied, after: Applied): boolean {
  return isSameJson(finding(before), finding(after));
}

function finding(applied: Applied) {
  const { job: _j, attempt: _a, at: _t, checkedAt: _c, knownFrom: _k, ...rest } = applied;
  return rest;
}

function isShown(task: Task, result: JobResult): boolean {
  const { config } = task.report;
  const drift = driftOf(task, result);
  if (!showsObserved(config.status)) return false;
  if (drift) return shows(config, drift);
  return findCondition(config.status?.conditions, 'Drifted') === undefined;
}

/** Returns condition Drifted if the contents were applied before; undefined: not applied. */
function driftOf({ report: { config }, node, contents }: Task, result: JobResult) {
  const record = recordOf(config);
  const content = contentHash(node, contents);
  const wanted = { action: 'apply', content, machine: machineOf(node) } as const;
  if (!record?.done || !isAbout(record, wanted)) return undefined;
  return driftIn(result).length > 0 ? drifted(result) : asApplied;
}
