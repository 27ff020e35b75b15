import { managedObjects } from '../../api/names.ts';
import {
  type Job,
  jobs,
  type Pod,
  type StatefulSet,
  statefulSets,
} from '../../kube/core-resources.ts';
import { revisionAnnotation } from '../model/mariadb/credentials-revision.ts';
import { databasePodName } from '../model/mariadb/names.ts';
import { backupPod, databasePodWith, prepared } from './database-scene.ts';
import type { MemoryObjects } from './memory-objects.ts';

/**
 * Stand-in for the kubelet and the controllers of Jobs and StatefulSets: a Job ends, and MariaDB is ready, within a
 * reconcile.
 */
export class Kubelet {
  /** Returns the failed Pod of a Job; undefined: the Job succeeds. */
  fails: (job: string) => Pod | undefined | false = () => undefined;
  readonly unpullable = new Set<string>();
  /** True: a new Pod of a Job is unschedulable during its first reconcile. */
  isCrowded = false;
  restarts = 0;
  readonly pods = new Map<string, Pod>();
  readonly #objects: MemoryObjects;

  constructor(objects: MemoryObjects) {
    this.#objects = objects;
  }

  work(now: Date): void {
    for (const job of this.#jobs) this.#run(job, now);
    const set = this.#objects.get(statefulSets, managedObjects.database);
    if (set) this.#serve(set);
  }

  /** Ends a Job without a Pod. */
  end(name: string): void {
    const job = this.#objects.get(jobs, name);
    if (job) this.#end(job, 'Complete');
  }

  get #jobs(): readonly Job[] {
    return this.#objects.entries.flatMap(([{ kind }, one]) =>
      kind === jobs.kind ? [one as Job] : [],
    );
  }

  #run(job: Job, now: Date): void {
    const { name } = job.metadata;
    const container = job.spec?.template.spec?.containers[0];
    if (job.status?.conditions || !container) return;
    const waiting = this.#waitingPod(name, container.image ?? '');
    if (waiting) return void this.pods.set(name, waiting);
    const failed = this.fails(name);
    const at = now.toISOString();
    this.pods.set(name, failed || backupPod(name, at, answerOf(name, at)));
    this.#end(job, failed ? 'Failed' : 'Complete');
  }

  /** Returns the Pod that cannot run now; undefined: it runs. */
  #waitingPod(job: string, image: string): Pod | undefined {
    if (this.unpullable.has(image)) return unpulled(job);
    return this.isCrowded && !this.pods.has(job) ? unscheduled(job) : undefined;
  }

  #end(job: Job, type: 'Complete' | 'Failed'): void {
    const conditions = [{ type, status: 'True', reason: 'x', message: 'the Job has failed' }];
    this.#objects.put(jobs, { ...job, status: { conditions } });
  }

  /** Replaces the Pod when its template has changed. */
  #serve(set: StatefulSet): void {
    const template = templateOf(set);
    const before = this.pods.get(databasePodName);
    if (before && isOf(before, template)) return;
    if (before) this.restarts += 1;
    const pod = databasePodWith(prepared, { isReady: true });
    this.pods.set(databasePodName, {
      ...pod,
      metadata: { ...pod.metadata, annotations: template.notes },
      spec: { ...pod.spec, containers: template.containers },
    });
    const status = { replicas: 1, readyReplicas: 1, observedGeneration: 1 };
    this.#objects.put(statefulSets, { ...set, status });
  }
}

/** Returns the termination message of a successful Job. */
function answerOf(job: string, at: string): unknown {
  return job.startsWith('mariadb-upgrade-check-')
    ? '{"version": "10.11.8"}'
    : { file: 'multinic-1.sql', bytes: 1, at, verified: true, rows: 3 };
}

type Container = NonNullable<Pod['spec']>['containers'][number];

interface Template {
  readonly notes: Record<string, string>;
  readonly containers: Container[];
}

function templateOf({ spec }: StatefulSet): Template {
  const { metadata, spec: pod } = spec?.template ?? {};
  return { notes: metadata?.annotations ?? {}, containers: pod?.containers ?? [] };
}

function isOf({ metadata, spec }: Pod, { notes, containers }: Template): boolean {
  const isSameLogin = metadata.annotations?.[revisionAnnotation] === notes[revisionAnnotation];
  return isSameLogin && spec?.containers[0]?.image === containers[0]?.image;
}

function unscheduled(job: string): Pod {
  const { metadata } = backupPod(job, '2026-11-26T10:00:00Z', '');
  const why = { reason: 'Unschedulable', message: 'Insufficient cpu' };
  return { metadata, status: { conditions: [{ type: 'PodScheduled', status: 'False', ...why }] } };
}

function unpulled(job: string): Pod {
  const pod = backupPod(job, '2026-11-26T10:00:00Z', '');
  const waiting = { reason: 'ImagePullBackOff', message: 'not found' };
  const [container] = pod.status?.containerStatuses ?? [];
  return {
    ...pod,
    status: { containerStatuses: container ? [{ ...container, state: { waiting } }] : [] },
  };
}
