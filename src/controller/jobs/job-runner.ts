import type { Effect } from '../../api/effects.ts';
import type { JobRequest } from '../../api/job.ts';
import { annotations } from '../../api/names.ts';
import { Store } from '../../kube/cache/store.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { configMaps, type Job, jobs, type Pod } from '../../kube/core-resources.ts';
import { isAbsent, isAlreadyExists } from '../../kube/errors.ts';
import { keyOf } from '../../kube/object.ts';
import type { Perform } from '../../process/effects.ts';
import { jobEndOf, runOf } from './evidence.ts';
import { configMapOf, type JobTemplate, jobName, jobOf } from './job.ts';
import { createOpenRuns } from './open-runs.ts';
import { rightsOf } from './pod-rights.ts';
import { type AgentTask, type Run, type Runner, RunRefused } from './runner.ts';

/** Agent Jobs by index: `config` (object key), `node`, and `open` (not finished by the Job controller). */
export function createJobStore(): Store<Job> {
  return new Store<Job>({
    packed: true,
    indexes: {
      config: ({ metadata }) => [metadata.annotations?.[annotations.config] ?? ''],
      node: ({ spec }) => [spec?.template.spec?.nodeName ?? ''],
      open: (job) => (jobEndOf(job) ? [] : ['yes']),
    },
  });
}

/** Agent Pods by `job` (uid of the owning Job). */
export function createPodStore(): Store<Pod> {
  return new Store<Pod>({
    packed: true,
    indexes: { job: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [] },
  });
}

/** Drops unused Job fields: a rollout over a whole cluster leaves one Job per node until the TTL. */
export function slimJob({ spec, ...job }: Job): Job {
  if (!spec) return job;
  const { suspend, activeDeadlineSeconds, template } = spec;
  const { nodeName } = template.spec ?? {};
  return {
    ...job,
    spec: {
      ...(suspend === undefined ? {} : { suspend }),
      ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
      template: { spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) } },
    },
  };
}

/** Drops the Pod spec; the Job has the same data. */
export function slimAgentPod(pod: Pod): Pod {
  const { spec: _, ...kept } = pod;
  return kept;
}

export interface JobRunnerOptions {
  readonly client: Pick<KubeClient, 'create' | 'get' | 'patch' | 'delete'>;
  readonly jobs: Store<Job>;
  readonly pods: Store<Pod>;
  readonly template: JobTemplate;
  readonly perform: Perform<Effect>;
}

/** Runs the agent as a Kubernetes Job; all state is in Jobs and Pods. */
export function createJobRunner(options: JobRunnerOptions): Runner {
  const { client, template, perform } = options;

  function read(list: readonly Job[]): readonly Run[] {
    return list.flatMap(
      (job) => runOf(job, options.pods.byIndex('job', job.metadata.uid ?? '')) ?? [],
    );
  }

  async function prepare(task: AgentTask, signal: AbortSignal): Promise<Run> {
    const job = await jobFor(task, signal);
    if (job.metadata.deletionTimestamp) {
      throw new RunRefused(
        `Job ${job.metadata.name} is being deleted; the next Job starts after that`,
      );
    }
    const [run] = read([job]);
    if (!run)
      throw new RunRefused(
        `Job ${job.metadata.name} exists and is not managed by MultiNIC; delete it`,
      );
    return run;
  }

  async function start(task: AgentTask, request: JobRequest, signal: AbortSignal): Promise<void> {
    const job = await jobFor(task, signal);
    // Compute the rights from the sent Job: the API server may return a mutated Job, and the store drops most fields.
    const rights = rightsOf(jobOf(task, template));
    await writeRequest(job, { ...request, rights }, signal);
    if (!job.spec?.suspend) return;
    const started = await perform('controller.job.unsuspend', () =>
      client.patch(jobs, refOfJob(job), { spec: { suspend: false } }, { signal }),
    );
    // Update the store before the watch event, so no decision uses the old state.
    options.jobs.upsert(started);
  }

  async function jobFor(task: AgentTask, signal: AbortSignal): Promise<Job> {
    const ref = { namespace: template.namespace, name: jobName(task) };
    const known = options.jobs.get(keyOf(ref));
    if (known) return known;
    try {
      const created = await perform('controller.job.create', () =>
        client.create(jobs, jobOf(task, template), { signal }),
      );
      options.jobs.upsert(created);
      return created;
    } catch (error) {
      // An earlier process created the Job, and the watch event is still missing.
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(jobs, ref, { signal });
      options.jobs.upsert(existing);
      return existing;
    }
  }

  async function writeRequest(job: Job, request: JobRequest, signal: AbortSignal): Promise<void> {
    const wanted = configMapOf(job, request);
    try {
      await perform('controller.config-map.create', () =>
        client.create(configMaps, wanted, { signal }),
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(configMaps, refOfJob(job), { signal });
      const owners = existing.metadata.ownerReferences ?? [];
      if (owners.some(({ uid }) => uid === job.metadata.uid)) return;
      // The garbage collector deletes the ConfigMap with the earlier Job; a Pod that mounts it now would get a wrong
      // request.
      throw new RunRefused(`ConfigMap ${wanted.metadata.name} belongs to another Job`, {
        cause: error,
      });
    }
  }

  async function remove(run: Run, signal: AbortSignal): Promise<void> {
    const ref = { namespace: template.namespace, name: run.name };
    const known = options.jobs.get(keyOf(ref));
    const uid = known?.metadata.uid;
    // Foreground deletion keeps the Job until its Pod stopped; until then no second agent starts.
    const propagationPolicy = run.phase === 'ended' ? 'Background' : 'Foreground';
    try {
      await perform('controller.job.delete', () =>
        client.delete(jobs, ref, { propagationPolicy, signal, ...(uid ? { uid } : {}) }),
      );
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
    if (known && propagationPolicy === 'Background') options.jobs.remove(known);
  }

  return {
    nameOf: jobName,
    runsFor: (config) => read(options.jobs.byIndex('config', keyOf(config))),
    runsOn: (node) => read(options.jobs.byIndex('node', node)),
    open: createOpenRuns(options.jobs, options.pods),
    prepare,
    start,
    remove,
  };
}

function refOfJob({ metadata: { namespace, name } }: Job) {
  return { name, ...(namespace ? { namespace } : {}) };
}
