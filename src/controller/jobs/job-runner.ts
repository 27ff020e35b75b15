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

/** Agent Jobs by `config` (key of the object) and `node`; `open` are those that the Job controller is not done with. */
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

/** Agent Pods by `job` (uid of the Job that owns them). */
export function createPodStore(): Store<Pod> {
  return new Store<Pod>({
    packed: true,
    indexes: { job: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [] },
  });
}

/** What nobody here reads is not kept: a whole cluster at once leaves as many Jobs for as long as they are kept. */
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

/** What a Pod was to run says its Job. */
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

/** Runs the agent as a Kubernetes Job; all it knows is in Jobs and Pods. */
export function createJobRunner(options: JobRunnerOptions): Runner {
  const { client, template, perform } = options;

  function read(list: readonly Job[]): readonly Run[] {
    return list.flatMap(
      (job) => runOf(job, options.pods.byIndex('job', job.metadata.uid ?? '')) ?? [],
    );
  }

  async function prepare(order: AgentTask, signal: AbortSignal): Promise<Run> {
    const job = await jobFor(order, signal);
    if (job.metadata.deletionTimestamp) {
      throw new RunRefused(`Job ${job.metadata.name} is being deleted; its successor has to wait`);
    }
    const [run] = read([job]);
    if (!run) throw new RunRefused(`Job ${job.metadata.name} is somebody else's`);
    return run;
  }

  async function start(order: AgentTask, request: JobRequest, signal: AbortSignal): Promise<void> {
    const job = await jobFor(order, signal);
    // Of what is sent now: the cluster may answer with another one, and the store keeps little of it.
    const rights = rightsOf(jobOf(order, template));
    await writeRequest(job, { ...request, rights }, signal);
    if (!job.spec?.suspend) return;
    const started = await perform('controller.job.unsuspend', () =>
      client.patch(jobs, refOfJob(job), { spec: { suspend: false } }, { signal }),
    );
    // What the watch will tell in a moment, so that nobody decides on the state before.
    options.jobs.upsert(started);
  }

  async function jobFor(order: AgentTask, signal: AbortSignal): Promise<Job> {
    const ref = { namespace: template.namespace, name: jobName(order) };
    const known = options.jobs.get(keyOf(ref));
    if (known) return known;
    try {
      const created = await perform('controller.job.create', () =>
        client.create(jobs, jobOf(order, template), { signal }),
      );
      options.jobs.upsert(created);
      return created;
    } catch (error) {
      // An earlier life of this process created it, and the watch has not told yet.
      if (!isAlreadyExists(error)) throw error;
      const there = await client.get(jobs, ref, { signal });
      options.jobs.upsert(there);
      return there;
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
      const there = await client.get(configMaps, refOfJob(job), { signal });
      const owners = there.metadata.ownerReferences ?? [];
      if (owners.some(({ uid }) => uid === job.metadata.uid)) return;
      // It goes with the earlier Job that owns it; a Pod that mounts it now would get the wrong request.
      throw new RunRefused(`ConfigMap ${wanted.metadata.name} belongs to another Job`, {
        cause: error,
      });
    }
  }

  async function remove(run: Run, signal: AbortSignal): Promise<void> {
    const ref = { namespace: template.namespace, name: run.name };
    const known = options.jobs.get(keyOf(ref));
    const uid = known?.metadata.uid;
    // Foreground keeps the Job until its Pod has stopped, so that nothing starts beside it.
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
