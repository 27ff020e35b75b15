import { type Condition, findCondition } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { annotations, labels, managedObjects } from '../../api/names.ts';
import {
  claims,
  cronJobs,
  type Deployment,
  deployments,
  jobs,
  secrets,
  statefulSets,
} from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { imageOf } from '../model/mariadb/image-change.ts';
import { effectsOf } from '../model/mariadb/operation-effects.ts';
import { type Operation, recordIn } from '../model/mariadb/operation-record.ts';
import type { Outcome, Outcomes } from '../model/outcome.ts';
import { type Observed, type StagePlan, unchanged } from '../model/stage.ts';
import { backup } from '../stages/backup/backup.ts';
import { credentials } from '../stages/credentials/credentials.ts';
import { database } from '../stages/database/database.ts';
import { operation } from '../stages/operation/stage.ts';
import { statusAfter } from '../status/status.ts';
import { Kubelet } from './kubelet.ts';
import { MemoryObjects } from './memory-objects.ts';
import { observedOf, operatorWith } from './observed.ts';

const namespace = 'multinic-system';
const minuteMs = 60_000;
/** Reconciles after which nothing may change any more. */
const patience = 60;

/**
 * A management cluster in memory: carries out the plans of the database's stages as the API server does. A reconcile
 * takes a minute of fake time.
 */
export class DatabaseCluster {
  readonly spec = { database: { enabled: true } as Record<string, unknown> };
  /** Different numbers of the operator's replicas, in their order. */
  readonly replicasSeen: number[] = [2];
  #now = new Date('2026-11-26T10:00:00Z');
  #annotations: Record<string, string> = {};
  #status: MultiNicOperatorStatus = {};
  #passwords = 0;
  readonly #objects = new MemoryObjects();
  readonly kubelet = new Kubelet(this.#objects);

  constructor() {
    this.#objects.put(deployments, {
      metadata: { namespace, name: managedObjects.controller, generation: 1 },
      spec: { replicas: 2, selector: {}, template: {} },
      status: { observedGeneration: 1, replicas: 2, readyReplicas: 2 },
    } satisfies Deployment);
  }

  annotate(notes: Record<string, string>): void {
    this.#annotations = notes;
  }

  setRecord(text: string): void {
    const claim = this.#objects.get(claims, managedObjects.databaseClaim);
    const notes = { ...claim?.metadata.annotations, [annotations.operation]: text };
    this.#objects.put(claims, {
      ...claim,
      metadata: { ...claim?.metadata, name: managedObjects.databaseClaim, annotations: notes },
    });
  }

  loseStatus(): void {
    this.#status = {};
  }

  dropJobs(): void {
    for (const name of this.jobNames) {
      this.#objects.delete(jobs, name);
      this.kubelet.pods.delete(name);
    }
  }

  startBackup(name: string): void {
    const app = { app: 'mariadb-backup', [labels.managedByOperator]: 'production-system' };
    this.#objects.put(jobs, { metadata: { namespace, name, labels: app } });
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
    if (works) this.kubelet.work(this.#now);
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
    const set = this.#objects.get(statefulSets, managedObjects.database);
    return set && imageOf(set);
  }

  get isSuspended(): boolean | undefined {
    return this.#objects.get(cronJobs, managedObjects.backup)?.spec?.suspend;
  }

  /** Number of retained files in the scheduled backup's environment. */
  get retention(): string | undefined {
    const { spec } = this.#objects.get(cronJobs, managedObjects.backup) ?? {};
    const env = spec?.jobTemplate.spec?.template.spec?.containers[0]?.env ?? [];
    return env.find(({ name }) => name === 'RETENTION')?.value;
  }

  serverObjects(): readonly unknown[] {
    return [
      this.#objects.get(secrets, managedObjects.credentials)?.data,
      this.#objects.get(statefulSets, managedObjects.database)?.spec,
    ];
  }

  #observed(): Observed {
    const operator = operatorWith(this.spec, {
      annotations: this.#annotations,
      status: this.#status,
    });
    const observed = observedOf(operator, this.#objects.entries);
    return { ...observed, pods: [...this.kubelet.pods.values()], now: this.#now };
  }

  #carryOut({ note, remove, create = [], apply }: StagePlan): void {
    if (note) this.setRecord(note.text);
    for (const { resource, ref } of remove) this.#objects.delete(resource, ref.name);
    for (const { resource, object } of create) {
      if (!this.#objects.get(resource, object.metadata.name)) this.#objects.put(resource, object);
    }
    for (const { resource, object } of apply) this.#apply(resource, object);
  }

  /** Keeps what other field managers set. */
  #apply(resource: Resource<KubeObject>, object: KubeObject): void {
    const before = this.#objects.get(resource, object.metadata.name);
    const kept = before?.metadata.annotations?.[annotations.operation];
    const notes = {
      ...object.metadata.annotations,
      ...(kept ? { [annotations.operation]: kept } : {}),
    };
    this.#objects.put(resource, {
      ...before,
      ...object,
      metadata: { ...object.metadata, annotations: notes },
    });
  }

  #scale(replicas: number): void {
    const live = this.#objects.get(deployments, managedObjects.controller);
    if (live?.spec?.replicas === replicas) return;
    this.replicasSeen.push(replicas);
    const status = { observedGeneration: 1, replicas, readyReplicas: replicas };
    this.#objects.put(deployments, {
      ...live,
      metadata: { ...live?.metadata, name: managedObjects.controller },
      spec: { selector: {}, template: {}, ...live?.spec, replicas },
      status,
    });
  }

  #picture(): string {
    const { lastUpdated: _, ...status } = this.#status;
    return JSON.stringify([this.#objects.entries, [...this.kubelet.pods], status]);
  }
}

function outcomeOf<Report>(plan: StagePlan<Report>): Outcome<Report> {
  return { plan, objects: new Map(), lost: new Map() };
}
