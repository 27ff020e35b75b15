import { type Cluster, type Target, timestamp } from '../cluster.ts';
import { at, type Json } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';
import { deadlineMs, endConditions, type Failure, failureOf, withStart } from './job-conditions.ts';
import {
  createPod,
  deletePod,
  isReady,
  isTracked,
  jobKeyOf,
  mayRun,
  outcomeOf,
  podsOf,
  untrack,
} from './job-pods.ts';
import { JobRetries } from './job-retries.ts';
import {
  conditionOf,
  type JobSpec,
  type JobStatus,
  specOf,
  statusJson,
  statusOf,
  withCondition,
} from './job-status.ts';
import type { ClusterController } from './loop.ts';

const manager = 'kube-controller-manager';
const resource = 'jobs.batch';
/** Marks keys of Pods that no Job controls. */
const orphan = 'orphan|';

/** A Job's state in the middle of one look at it. */
interface View {
  readonly job: KubeObject;
  readonly target: Target;
  readonly spec: JobSpec;
  readonly pods: readonly KubeObject[];
}

/** Runs Pods for Jobs, counts how they end, and says Complete or Failed; non-indexed Jobs only. */
export function jobController(cluster: Cluster): ClusterController {
  const retries = new JobRetries(cluster.clock);
  return {
    keys(change) {
      if (change.resource === resource) return [change.key];
      if (change.resource !== 'pods') return [];
      return [jobKeyOf(change.object) ?? orphan + change.key];
    },
    reconcile(key) {
      if (key.startsWith(orphan)) return releaseOrphan(cluster, key.slice(orphan.length));
      const job = cluster.storage.get(resource, key);
      if (!job) return releaseDependents(cluster, key);
      const type = cluster.types.ofResource(resource);
      if (!type) return undefined;
      const { namespace, name, deletionTimestamp } = job.metadata;
      const target: Target = { type, namespace, name };
      const view: View = { job, target, spec: specOf(job), pods: podsOf(cluster, job) };
      if (deletionTimestamp !== undefined) return releasePods(cluster, view);
      const status = statusOf(job);
      const end = conditionOf(status, 'Complete') ?? conditionOf(status, 'Failed');
      if (end) {
        retries.forget(job.metadata.uid ?? '');
        return expire(cluster, view, end);
      }
      return run(cluster, view, status, retries);
    },
  };
}

function run(
  cluster: Cluster,
  view: View,
  before: JobStatus,
  retries: JobRetries,
): number | undefined {
  const counted = count(view, before);
  const started = withStart(cluster, view.spec, counted);
  const failure = failureOf(cluster, view.spec, started);
  const done = started.succeeded >= view.spec.completions;
  const idle = done || failure !== undefined || view.spec.suspend;
  if (idle) stopPods(cluster, view);
  const againAfterMs = idle ? undefined : fill(cluster, view, started, retries);
  const ended = conclude(cluster, view, started, failure, done);
  writeStatus(cluster, view, ended);
  for (const pod of endedPods(view)) untrack(cluster, pod);
  const deadline = failure || done ? undefined : deadlineMs(cluster, view.spec, started);
  return soonest(againAfterMs, deadline);
}

/** Pods that ended and are not counted yet: they keep their finalizer until the new count is stored. */
function endedPods({ pods }: View): readonly KubeObject[] {
  return pods.filter((pod) => isTracked(pod) && outcomeOf(pod) !== 'active');
}

function count(view: View, status: JobStatus): JobStatus {
  const ended = endedPods(view);
  const succeeded = ended.filter((pod) => outcomeOf(pod) === 'succeeded').length;
  return {
    ...status,
    succeeded: status.succeeded + succeeded,
    failed: status.failed + ended.length - succeeded,
  };
}

function stopPods(cluster: Cluster, { pods }: View): void {
  for (const pod of pods) if (outcomeOf(pod) === 'active') deletePod(cluster, pod);
}

/** Creates the Pods that are missing; after a failure only when the back-off is over (10 s doubled, at most 10 min). */
function fill(
  cluster: Cluster,
  { job, spec, pods }: View,
  status: JobStatus,
  retries: JobRetries,
): number | undefined {
  const active = pods.filter((pod) => outcomeOf(pod) === 'active').length;
  const missing = Math.min(spec.parallelism, spec.completions - status.succeeded) - active;
  if (missing <= 0) return undefined;
  const waitMs = retries.leftMs(job.metadata.uid ?? '', status.failed);
  if (waitMs > 0) return waitMs;
  for (let i = 0; i < missing; i += 1) createPod(cluster, job);
  return undefined;
}

/** The conditions as they are now: first the decision, then, with no Pod left running, the end. */
function conclude(
  cluster: Cluster,
  view: View,
  status: JobStatus,
  failure: Failure | undefined,
  done: boolean,
): JobStatus {
  const pods = podsOf(cluster, view.job);
  const running = pods.filter(mayRun);
  const terminating = running.filter((pod) => pod.metadata.deletionTimestamp !== undefined);
  const active = pods.filter((pod) => outcomeOf(pod) === 'active');
  const conditions = endConditions(failure, done, running.length === 0).reduce(
    (all, one) => withCondition(all, one, timestamp(cluster)),
    status.conditions,
  );
  return {
    ...status,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: terminating.length,
    conditions,
  };
}

function writeStatus(cluster: Cluster, { target }: View, status: JobStatus): void {
  const change = (live: KubeObject): KubeObject => ({ ...live, status: statusJson(status) });
  update(cluster, target, change, { manager, subresource: 'status' });
}

/** Deletes a finished Job when its time to live is over. */
function expire(cluster: Cluster, { spec, target }: View, end: Json): number | undefined {
  if (spec.ttlSecondsAfterFinished === undefined) return undefined;
  const due =
    Date.parse(at(end, 'lastTransitionTime') as string) + spec.ttlSecondsAfterFinished * 1000;
  const leftMs = due - cluster.clock.now().getTime();
  if (leftMs > 0) return leftMs;
  remove(cluster, target, { propagationPolicy: 'Foreground' });
  return undefined;
}

function releasePods(cluster: Cluster, { pods }: View): undefined {
  for (const pod of pods) if (isTracked(pod)) untrack(cluster, pod);
}

function releaseDependents(cluster: Cluster, key: string): undefined {
  const orphans = cluster.storage
    .each('pods')
    .filter((pod) => isTracked(pod) && jobKeyOf(pod) === key);
  for (const pod of orphans) untrack(cluster, pod);
}

/** A Pod that was cut loose from its Job is counted by nobody. */
function releaseOrphan(cluster: Cluster, key: string): undefined {
  const pod = cluster.storage.get('pods', key);
  if (pod && isTracked(pod) && jobKeyOf(pod) === undefined) untrack(cluster, pod);
}

function soonest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
