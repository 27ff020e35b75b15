import { rfc3339 } from '../../api/condition.ts';
import { annotations } from '../../api/names.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, type RolloutPhase, recordOf } from '../jobs/applied.ts';
import type { Failure } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { imageHash, isReported, revisionOf, sourceOf } from './revision.ts';
import {
  type Continued,
  continuedNow,
  isExcused,
  type Progress,
  progressOf,
  type Tally,
  waitingMessage,
} from './rollout.ts';
import {
  type CountedRun,
  imageIn,
  type RolloutNode,
  RolloutNodes,
  type RolloutState,
  sourceIn,
} from './rollout-nodes.ts';
import { RolloutWaiting } from './rollout-waiting.ts';

/** A run that changes existing NICs. */
export interface Change {
  /** Object key, woken when the run may start. */
  readonly key: string;
  readonly node: Node;
  readonly revision: string;
}

/** Reason why a change must wait. */
export interface Refusal extends Failure {
  readonly isStopped: boolean;
}

export type RolloutPermission =
  | {
      readonly granted: true;
      /** Call when the change has started or failed to start. */
      release(): void;
      /** Call while the change waits for a free agent slot; its budget share stays reserved. */
      reserve(): void;
    }
  | { readonly granted: false; readonly why: Refusal };

/** Applies a revision's changes to few nodes first. */
export interface Rollout {
  revisionOf(config: NodeConfig): string;
  request(change: Change): RolloutPermission;
  /** Phase that a run inherits from the object's record; undefined: the run no longer counts. */
  carriedPhase(config: NodeConfig): RolloutPhase | undefined;
  /** Unhandled value of `rollout-continue`; undefined: no new value. */
  continuedBy(config: NodeConfig): ContinuedStatus | undefined;
  /** True if an agent with the image has reported on a node in this cluster. */
  readonly isImageProven: () => boolean;
  /** Returns a finished run's record, without the failure if a user continued the rollout after the run started. */
  withoutExcused(record: Applied): Applied;
  /** Number of nodes in a state, over all revisions. */
  count(state: RolloutState): number;
  /** Notes a finished run before its record is deleted with the object. */
  ended(record: Pick<Applied, 'done' | 'reasons' | 'revision'>): void;
}

export type ContinuedStatus = NonNullable<NonNullable<NodeConfig['status']>['rolloutContinued']>;

export interface RolloutOptions {
  readonly configs: Parameters<RolloutNodes['follow']>[0];
  readonly nodes: { get(name: string): Node | undefined };
  /** Agent image. */
  readonly image: string;
  /** Node label that defines domains; undefined: no domains. */
  readonly domainLabel: string | undefined;
  /** True if an agent Job with this name exists, finished or not. */
  readonly hasJob: (name: string) => boolean;
  /** Names of unfinished Jobs. */
  readonly openJobs: () => readonly string[];
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** Enqueues objects that may start or whose waiting reason changed. */
  readonly wake: (keys: readonly string[]) => void;
  /** Called once, when the image is proven. */
  readonly onImageProven: () => void;
}

interface Admitted extends Change {
  /** End of a reservation on the monotonic clock; undefined while the run is starting. */
  readonly until: number | undefined;
}

/** A change waiting for a slot retries every 30 s; without retries its reservation expires. */
const reservationMs = 90_000;

export function createRollout(options: RolloutOptions): Rollout {
  const { domainLabel, hasJob, clock } = options;
  const image = imageHash(options.image);
  const records = new RolloutNodes(image);
  const admitted = new Map<string, Admitted>();
  const waiting = new RolloutWaiting();
  let hasReported = false;

  function isImageProven(): boolean {
    return hasReported || records.isProven();
  }

  function proven(): void {
    if (hasReported) return;
    hasReported = true;
    options.onImageProven();
  }

  function onChange(key: string, versions: readonly RolloutNode[]): void {
    const wanted = records.get(key)?.wanted;
    if (admitted.get(key)?.revision !== wanted) admitted.delete(key);
    if (waiting.revisionOf(key) !== wanted) waiting.delete(key);
    if (versions.some(({ provenImage }) => provenImage === image)) proven();
    review(versions);
  }

  function review(versions: readonly RolloutNode[]): void {
    const touched = new Set(
      versions.flatMap(({ source, run }) => (run ? [source, sourceIn(run.revision)] : source)),
    );
    for (const revision of waiting.revisions) {
      // A free domain is free for every source.
      if (domainLabel !== undefined || touched.has(sourceIn(revision))) wakeFor(revision);
    }
  }

  function wakeFor(revision: string): void {
    const progress = progressOf(tallyOf(revision));
    const [domain] = domainsAtWork().keys();
    options.wake(waiting.take(revision, progress.step, progress.room, domain));
  }

  /** `except`: key of a change to leave out. */
  function tallyOf(revision: string, except?: string): Tally {
    const now = clock.now().getTime();
    const continued = records.continuedOf(sourceIn(revision));
    const started = [...records.started(revision)];
    const running = started.filter(([, run]) => isAwaited(run));
    const lost = started.filter(([, run]) => !isAwaited(run));
    const failures = [...records.failed(revision), ...lost]
      .filter(([key, { at }]) => key !== except && !isExcused(at, continued, now))
      .map(([, run]) => run);
    const counted = new Set(running.map(([key]) => key));
    const coming = [...admitted.values()].filter(
      (one) =>
        one.revision === revision && one.key !== except && !counted.has(one.key) && holds(one),
    );
    return {
      total: records.total(revision),
      running: [
        ...running.map(([, { node }]) => node),
        ...coming.map(({ node }) => node.metadata.name),
      ],
      done: records.done(revision),
      failures,
    };
  }

  /** True if a result may still come: the Job and the Node both exist. */
  function isAwaited({ job, node }: CountedRun): boolean {
    return hasJob(job) && options.nodes.get(node) !== undefined;
  }

  function holds({ until }: Admitted): boolean {
    return until === undefined || until > clock.monotonicMs();
  }

  function request(change: Change): RolloutPermission {
    const { key, revision, node } = change;
    const why = refusalOf(change);
    if (why) {
      admitted.delete(key);
      waiting.add(key, revision, domainOf(node), why.shows);
      return { granted: false, why: why.refusal };
    }
    waiting.delete(key);
    admitted.set(key, { ...change, until: undefined });
    return {
      granted: true,
      release: () => {
        admitted.delete(key);
        // A run that failed to start frees its share for another node.
        if (waiting.revisions.includes(revision)) wakeFor(revision);
      },
      reserve: () =>
        void admitted.set(key, { ...change, until: clock.monotonicMs() + reservationMs }),
    };
  }

  function refusalOf({ key, revision, node }: Change) {
    const tally = tallyOf(revision, key);
    const progress = progressOf(tally);
    if (progress.room < 1) return refusal(waitingMessage(progress, tally), progress);
    const own = domainOf(node);
    const others = [...domainsAtWork(key)].filter(([domain]) => domain !== own);
    const [other] = others;
    if (!other) return undefined;
    const message = `rollout: node ${other[1]} is being changed; nodes with another ${domainLabel} follow after those in ${other[0]}`;
    return refusal(message, progress);
  }

  /** Returns domains with a run under way, each with one such node. */
  function domainsAtWork(except?: string): ReadonlyMap<string, string> {
    if (domainLabel === undefined) return new Map();
    const jobs = new Set(options.openJobs());
    const open = [...records.allStarted()].filter(([, { job }]) => jobs.has(job));
    const starting = [...admitted.values()].filter(({ until }) => until === undefined);
    const names = [
      ...open.flatMap(([key, { node }]) => (key === except ? [] : node)),
      ...starting.flatMap(({ key, node }) => (key === except ? [] : node.metadata.name)),
    ];
    return new Map(names.map((name) => [domainOf(options.nodes.get(name)) ?? name, name]));
  }

  /** A node without the label is a domain by itself. */
  function domainOf(node: Node | undefined): string | undefined {
    if (domainLabel === undefined || !node) return undefined;
    const value = node.metadata.labels?.[domainLabel];
    return value === undefined ? `node ${node.metadata.name}` : `${domainLabel}=${value}`;
  }

  function carriedPhase(config: NodeConfig): RolloutPhase | undefined {
    const record = recordOf(config);
    if (!record || record.undone || record.revision !== revisionFor(config)) return undefined;
    return withoutExcused(record).rollout;
  }

  function withoutExcused(record: Applied): Applied {
    const { rollout, revision = '', ...rest } = record;
    if (rollout !== 'failed') return record;
    const continued = records.continuedOf(sourceIn(revision));
    const isOver = isExcused(Date.parse(rest.at), continued, clock.now().getTime());
    return isOver ? { ...rest, revision } : record;
  }

  function continuedBy(config: NodeConfig): ContinuedStatus | undefined {
    const value = valueOf(config);
    if (value === undefined || value === config.status?.rolloutContinued?.value) return undefined;
    const { uid } = sourceOf(config);
    // The same value on several objects is one decision by the source's user.
    const used = records.continuedOf(uid).find((one) => one.value === value);
    const failures = records.failuresOf(uid).map(({ at }) => at);
    return asStatus(used ?? continuedNow(value, clock.now().getTime(), failures));
  }

  function revisionFor(config: NodeConfig): string {
    return revisionOf(sourceOf(config), image);
  }

  records.follow(options.configs, onChange);
  return {
    revisionOf: revisionFor,
    request,
    carriedPhase,
    continuedBy,
    isImageProven,
    withoutExcused,
    count: (state) => records.count(state),
    ended: (record) => {
      // A Job with an earlier image may finish after an upgrade.
      if (imageIn(record.revision ?? '') === image && isReported(record)) proven();
    },
  };
}

function refusal(message: string, progress: Progress) {
  const isStopped = progress.step === 'stopped';
  const why: Refusal = { reason: 'RolloutWaiting', message, isStopped };
  return { refusal: why, shows: progress.step };
}

/**
 * Returns the annotation value as the status stores it. A cut may leave half a surrogate pair, which an API server
 * drops.
 */
function valueOf({ metadata }: NodeConfig): string | undefined {
  return (
    metadata.annotations?.[annotations.rolloutContinue]?.slice(0, 64).toWellFormed() || undefined
  );
}

function asStatus({ value, at, until }: Continued): ContinuedStatus {
  return { value, at: timeOf(at), ...(until === undefined ? {} : { until: timeOf(until) }) };
}

function timeOf(ms: number): string {
  return rfc3339(new Date(ms));
}
