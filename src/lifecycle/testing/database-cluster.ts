import { type Condition, findCondition } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { annotations, labels, managedObjects } from '../../api/names.ts';
import {
  claims,
  cronJobs,
  type Deployment,
  deployments,
  type Job,
  jobs,
  type Pod,
  type StatefulSet,
  secrets,
  statefulSets,
} from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { backup } from '../backup/backup.ts';
import { credentials } from '../credentials/credentials.ts';
import { revisionAnnotation } from '../credentials/revision.ts';
import { database } from '../database/database.ts';
import { imageOf } from '../database/image-change.ts';
import { effectsOf } from '../database/operation/effects.ts';
import { type Operation, recordIn } from '../database/operation/record.ts';
import { operation } from '../database/operation/stage.ts';
import type { Outcome, Outcomes } from '../outcome.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';
import { statusAfter } from '../status/status.ts';
import { backupPod, databasePodWith, prepared } from './database-scene.ts';
import { observedOf, operatorWith } from './observed.ts';

const namespace = 'multinic-system';
const minuteMs = 60_000;
/** Reconciles after which nothing may change any more. */
const patience = 60;

/**
 * A management cluster in memory: carries out the plans of the database's stages as the API server, kubelet and Job
 * controller do. A reconcile takes a minute of fake time.
 */
export class DatabaseCluster {
  readonly spec = { database: { enabled: true } as Record<string, unknown> };
  /** Returns the failed Pod of a Job; undefined: the Job succeeds. */
  fails: (job: string) => Pod | undefined | false = () => undefined;
  readonly unpullable = new Set<string>();
  /** True: a new Pod of a Job is unschedulable during its first reconcile. */
  isCrowded = false;
  /** Different numbers of the operator's replicas, in their order. */
  readonly replicasSeen: number[] = [2];
  restarts = 0;
  #now = new Date('2026-11-26T10:00:00Z');
  #annotations: Record<string, string> = {};
  #status: MultiNicOperatorStatus = {};
  #passwords = 0;
  readonly #live = new Map<string, readonly [Resource<KubeObject>, KubeObject]>();
  readonly #pods = new Map<string, Pod>();

  constructor() {
    this.#put(deployments, {
      metadata: { namespace, name: managedObjects.controller, generation: 1 },
      spec: { replicas: 2, selector: {}, template: {} },
      status: { observedGeneration: 1, replicas: 2, readyReplicas: 2 },
    } satisfies Deployment);
  }

  annotate(notes: Record<string, string>): void {
    this.#annotations = notes;
  }

  setRecord(text: string): void {
    const claim = this.#get(claims, managedObjects.databaseClaim);
    const notes = { ...claim?.metadata.annotations, [annotations.operation]: text };
    this.#put(claims, {
      ...claim,
      metadata: { ...claim?.metadata, name: managedObjects.databaseClaim, annotations: notes },
    });
  }

  loseStatus(): void {
    this.#status = {};
  }

  dropJobs(): void {
    for (const name of this.jobNames) {
      this.#live.delete(keyOf(jobs, name));
      this.#pods.delete(name);
    }
  }

  startBackup(name: string): void {
    const app = { app: 'mariadb-backup', [labels.managedByOperator]: 'production-system' };
    this.#put(jobs, { metadata: { namespace, name, labels: app } });
  }

  endBackup(name: string): void {
    this.#end(this.#get(jobs, name), 'Complete');
  }

  /** Reconciles until nothing changes; returns the steps in their order, as `kind step`. */
  settle(): string[] {
    const steps: string[] = [];
    for (let left = patience; left > 0; left--) {
      const before = this.#picture();
      const { operation: current } = this;
      const step = current && `${current.kind} ${current.step}`;
      if (step !== undefined && steps.at(-1) !== step) steps.push(step);
      this.reconcile();
      if (this.#picture() === before) return steps;
    }
    throw new Error(`no end: ${steps.join(', ')}`);
  }

  /** Reconciles until the stored operation is at this step. */
  until(step: string): void {
    for (let left = patience; left > 0; left--) {
      const { operation: current } = this;
      if (current && `${current.kind} ${current.step}` === step) return;
      this.reconcile();
    }
    throw new Error(`${step} never comes`);
  }

  /** One reconcile, and with `works` the kubelet and the Job controller. */
  reconcile({ works = true } = {}): void {
    const observed = this.#observed();
    const password = () => `password-${++this.#passwords}`;
    const plans = {
      operation: operation(observed),
      credentials: credentials(observed, password),
      database: database(observed),
      backup: backup(observed),
    };
    const { replicas } = effectsOf(observed);
    for (const plan of Object.values<StagePlan>(plans)) this.#carryOut(plan);
    if (replicas !== undefined) this.#scale(replicas);
    if (works) this.#work();
    const ready = { phase: 'Ready', readyReplicas: 2, desiredReplicas: 2 };
    const outcomes: Outcomes = {
      operation: outcomeOf(plans.operation),
      credentials: outcomeOf(plans.credentials),
      database: outcomeOf(plans.database),
      backup: outcomeOf(plans.backup),
      controller: outcomeOf(unchanged([], ready)),
      triggers: outcomeOf(unchanged([], undefined)),
      protection: outcomeOf(unchanged([], { configured: true })),
    };
    const { operator, accepted, now } = observed;
    const before = this.#status;
    this.#status = statusAfter({ operator, before, accepted, outcomes, webhookAnswers: true, now });
    this.#now = new Date(this.#now.getTime() + minuteMs);
  }

  get operation(): Operation | undefined {
    return recordIn(this.#observed()).operation;
  }

  /** Requeue delay for the operation, in milliseconds. */
  get requeueAfterMs(): number | undefined {
    return operation(this.#observed()).requeueAfterMs;
  }

  get databaseStatus() {
    return this.#status.databaseStatus;
  }

  get isReady(): boolean {
    return this.condition('Ready')?.status === 'True';
  }

  condition(type: string): Condition | undefined {
    return findCondition(this.#status.conditions, type);
  }

  get jobNames(): readonly string[] {
    return this.#observed().jobs.map(({ metadata }) => metadata.name);
  }

  get image(): string | undefined {
    const set = this.#get(statefulSets, managedObjects.database);
    return set && imageOf(set);
  }

  get isSuspended(): boolean | undefined {
    return this.#get(cronJobs, managedObjects.backup)?.spec?.suspend;
  }

  /** Number of retained files in the scheduled backup's environment. */
  get retention(): string | undefined {
    const { spec } = this.#get(cronJobs, managedObjects.backup) ?? {};
    const env = spec?.jobTemplate.spec?.template.spec?.containers[0]?.env ?? [];
    return env.find(({ name }) => name === 'RETENTION')?.value;
  }

  serverObjects(): readonly unknown[] {
    return [
      this.#get(secrets, managedObjects.credentials)?.data,
      this.#get(statefulSets, managedObjects.database)?.spec,
    ];
  }

  #observed(): Observed {
    const operator = operatorWith(this.spec, {
      annotations: this.#annotations,
      status: this.#status,
    });
    const observed = observedOf(operator, [...this.#live.values()]);
    return { ...observed, pods: [...this.#pods.values()], now: this.#now };
  }

  #carryOut({ note, remove, create = [], apply }: StagePlan): void {
    if (note) this.setRecord(note.text);
    for (const { resource, ref } of remove) this.#live.delete(keyOf(resource, ref.name));
    for (const { resource, object } of create) {
      if (!this.#get(resource, object.metadata.name)) this.#put(resource, object);
    }
    for (const { resource, object } of apply) this.#apply(resource, object);
  }

  /** Keeps what other field managers set. */
  #apply(resource: Resource<KubeObject>, object: KubeObject): void {
    const before = this.#get(resource, object.metadata.name);
    const kept = before?.metadata.annotations?.[annotations.operation];
    const notes = {
      ...object.metadata.annotations,
      ...(kept ? { [annotations.operation]: kept } : {}),
    };
    this.#put(resource, {
      ...before,
      ...object,
      metadata: { ...object.metadata, annotations: notes },
    });
  }

  #scale(replicas: number): void {
    const live = this.#get(deployments, managedObjects.controller);
    if (live?.spec?.replicas === replicas) return;
    this.replicasSeen.push(replicas);
    const status = { observedGeneration: 1, replicas, readyReplicas: replicas };
    this.#put(deployments, {
      ...live,
      metadata: { ...live?.metadata, name: managedObjects.controller },
      spec: { selector: {}, template: {}, ...live?.spec, replicas },
      status,
    });
  }

  #work(): void {
    for (const job of this.#observed().jobs) this.#run(job);
    const set = this.#get(statefulSets, managedObjects.database);
    if (set) this.#serve(set);
  }

  #run(job: Job): void {
    const { name } = job.metadata;
    const container = job.spec?.template.spec?.containers[0];
    if (job.status?.conditions || !container) return;
    const waiting = this.#waitingPod(name, container.image ?? '');
    if (waiting) return void this.#pods.set(name, waiting);
    const failed = this.fails(name);
    const at = this.#now.toISOString();
    this.#pods.set(name, failed || backupPod(name, at, answerOf(name, at)));
    this.#end(job, failed ? 'Failed' : 'Complete');
  }

  /** Returns the Pod that cannot run now; undefined: it runs. */
  #waitingPod(job: string, image: string): Pod | undefined {
    if (this.unpullable.has(image)) return unpulled(job);
    return this.isCrowded && !this.#pods.has(job) ? unscheduled(job) : undefined;
  }

  #end(job: Job | undefined, type: 'Complete' | 'Failed'): void {
    if (!job) return;
    const conditions = [{ type, status: 'True', reason: 'x', message: 'the Job has failed' }];
    this.#put(jobs, { ...job, status: { conditions } });
  }

  /** Replaces the Pod when its template has changed. */
  #serve(set: StatefulSet): void {
    const template = templateOf(set);
    const before = this.#pods.get('mariadb-0');
    if (before && isOf(before, template)) return;
    if (before) this.restarts += 1;
    const pod = databasePodWith(prepared, { isReady: true });
    this.#pods.set('mariadb-0', {
      ...pod,
      metadata: { ...pod.metadata, annotations: template.notes },
      spec: { ...pod.spec, containers: template.containers },
    });
    const status = { replicas: 1, readyReplicas: 1, observedGeneration: 1 };
    this.#put(statefulSets, { ...set, status });
  }

  #get<T extends KubeObject>(resource: Resource<T>, name: string): T | undefined {
    return this.#live.get(keyOf(resource, name))?.[1] as T | undefined;
  }

  #put<T extends KubeObject>(resource: Resource<T>, object: T): void {
    const { name } = object.metadata;
    const metadata = { uid: `${name}-uid`, ...object.metadata };
    this.#live.set(keyOf(resource, name), [resource, { ...object, metadata }]);
  }

  #picture(): string {
    const { lastUpdated: _, ...status } = this.#status;
    return JSON.stringify([[...this.#live], [...this.#pods], status]);
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

function keyOf({ kind }: { readonly kind: string }, name: string): string {
  return `${kind} ${name}`;
}

function outcomeOf<Report>(plan: StagePlan<Report>): Outcome<Report> {
  return { plan, objects: new Map(), lost: new Map() };
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
