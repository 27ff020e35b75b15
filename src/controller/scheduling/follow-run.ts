import { protocol as newestProtocol } from '../../api/job.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, begun, recordOf } from '../jobs/applied.ts';
import { healthOf, unreachable } from '../jobs/liveness.ts';
import type { RecordAges } from '../jobs/record-ages.ts';
import { consentIn, requestOf } from '../jobs/request.ts';
import type { Run, Runner } from '../jobs/runner.ts';
import type { ClusterFacts } from '../networks/cluster-facts.ts';
import type { ReportOutcome } from './report-outcome.ts';
import type { Rollout } from './rollout-budget.ts';
import type { Progress, Task } from './task.ts';
import { appliedContent } from './terms.ts';

interface FollowRunOptions {
  readonly runner: Pick<Runner, 'start' | 'remove'>;
  readonly rollout: Pick<Rollout, 'revisionOf'>;
  readonly facts: () => ClusterFacts;
  readonly startDeadlineMs: number;
  readonly ages: RecordAges;
  readonly clock: Pick<Clock, 'now'>;
  readonly reportOutcome: ReportOutcome;
}

/** Deletes a run that cannot start, repairs a slow run, otherwise waits. */
type FollowRun = (task: Task, run: Run, signal: AbortSignal) => Promise<Progress>;

export function createFollowRun(options: FollowRunOptions): FollowRun {
  const { runner, rollout, facts, startDeadlineMs, ages, clock, reportOutcome } = options;

  async function follow(task: Task, run: Run, signal: AbortSignal): Promise<Progress> {
    const { report, node } = task;
    const known = recordOf(report.config);
    const applied = known?.job === run.name ? known : undefined;
    // The run already failed and is being removed; it must end before a new run starts.
    if (applied?.done !== undefined) {
      report.tell({ kind: 'recorded' });
      return { done: false };
    }
    const shown = { ...run, trouble: run.trouble ?? unreachable(node) };
    // The first start already set the phase.
    const repeat = run.attempt > 1;
    report.tell({ kind: 'working', run: shown, repeat }, applied ?? unrecorded(run, task));
    return applied ? supervise(task, run, applied, signal) : { done: false };
  }

  async function supervise(
    task: Task,
    run: Run,
    applied: Applied,
    signal: AbortSignal,
  ): Promise<Progress> {
    const { config } = task.report;
    const recordAgeMs = ages.of(keyOf(config), applied);
    const health = healthOf(run, { startDeadlineMs, recordAgeMs });
    if (health.kind === 'fine') return { done: false };
    if (health.kind === 'late') {
      await runner.remove(run, signal);
      reportOutcome(task, { job: run.name, verdict: { kind: 'failure', ...health.failure } });
      return { done: false };
    }
    if (health.kind === 'slow') {
      await runner.start(run, requestOf(run, { ...task, config }, applied, facts()), signal);
    }
    return { done: false, requeueAfterMs: health.forMs };
  }

  /** Builds a record for a running Job whose `status.applied` was deleted. */
  function unrecorded(run: Run, { report: { config }, contents }: Task): Applied {
    const revision = rollout.revisionOf(config);
    const content = run.action === 'apply' ? appliedContent({ config, contents }, undefined) : {};
    const consent = run.action === 'apply' ? consentIn(contents) : {};
    const terms = { protocol: newestProtocol, revision, ...content, ...consent } as const;
    return begun(run, run.name, terms, clock.now());
  }

  return follow;
}
