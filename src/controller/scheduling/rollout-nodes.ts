import { findCondition } from '../../api/condition.ts';
import { isWrittenByLegacy } from '../../api/legacy-status.ts';
import type { Change, Store } from '../../kube/cache/store.ts';
import { StoreIndex } from '../../kube/cache/store-index.ts';
import type { RolloutPhase } from '../jobs/applied.ts';
import { hasFailed, isOnlyRefused } from '../jobs/failed-nics.ts';
import { isObserved, prohibitionOf } from '../jobs/permission.ts';
import type { NodeConfig } from '../objects/stores.ts';
import {
  imageIn,
  isNewAdoption,
  isReported,
  type RecordFields,
  recordIn,
  sourceIn,
  sourceOf,
  wantedRevision,
} from './revision.ts';
import type { Continued, Failed } from './rollout.ts';

/** Node states in the metric `multinic_rollout_nodes`. */
export const rolloutStates = ['waiting', 'running', 'done', 'failed', 'stopped'] as const;

export type RolloutState = (typeof rolloutStates)[number];

/** Rollout data for one object. */
export interface RolloutNode {
  /** Revision wanted by the object; undefined: the object is being deleted, or only observed. */
  readonly wanted: string | undefined;
  readonly source: string;
  /** Last run counted by the budget. */
  readonly run: CountedRun | undefined;
  readonly continued: Continued | undefined;
  readonly states: readonly RolloutState[];
  /** Hash of the agent image that reported on the node. */
  readonly provenImage: string | undefined;
  /** Last run's outcome, false also for an earlier failure of an unchanged NIC; undefined: unknown, or no run. */
  readonly isDone: boolean | undefined;
  /** Last run's Kubernetes node. */
  readonly node: string | undefined;
  /** True if the last run is done and a change to the wanted revision has not started. */
  readonly isCandidate: boolean;
}

export interface CountedRun {
  readonly revision: string;
  /** `failed` also covers a run past its deadline whose Pod does not end. */
  readonly phase: RolloutPhase;
  readonly node: string;
  /** Job name. */
  readonly job: string;
  /** True if the run before had failed: a failure never stops the revision. */
  readonly failedBefore: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Index of all objects' records by revision. The object store keeps objects as text; with the index no decision parses
 * text. A restarted process rebuilds the same index.
 */
export class RolloutNodes {
  readonly #image: string;
  readonly #nodes = new Map<string, RolloutNode>();
  readonly #index = new StoreIndex<RolloutNode>(valuesOf);

  /** `image`: hash of the agent image, as in a revision. */
  constructor(image: string) {
    this.#image = image;
  }

  /** Calls `listener` with the key and both versions after each store change. */
  follow(
    configs: Pick<Store<NodeConfig>, 'subscribe'>,
    listener: (key: string, versions: readonly RolloutNode[]) => void,
  ): void {
    configs.subscribe(
      (change) => {
        const versions = this.#take(change);
        listener(change.key, versions);
      },
      { replay: true },
    );
  }

  #take({ type, key, object }: Change<NodeConfig>): readonly RolloutNode[] {
    const before = this.#nodes.get(key);
    const now = type === 'deleted' ? undefined : rolloutNodeOf(object, this.#image);
    if (before) this.#index.remove(valuesOf(before), key);
    if (now) {
      this.#index.add(valuesOf(now), key);
      this.#nodes.set(key, now);
    } else {
      this.#nodes.delete(key);
    }
    return [before, now].flatMap((version) => version ?? []);
  }

  get(key: string): RolloutNode | undefined {
    return this.#nodes.get(key);
  }

  /** Number of objects that want a revision. */
  total(revision: string): number {
    return this.#index.count(`wanted ${revision}`);
  }

  done(revision: string): number {
    return this.#index.count(`done ${revision}`);
  }

  /** Keys and runs for objects that want the revision and have an unfinished run. */
  started(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`started ${revision}`);
  }

  /** Unfinished runs over all revisions. */
  allStarted(): ReadonlyMap<string, CountedRun> {
    return this.#runs('state running');
  }

  failed(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`failed ${revision}`);
  }

  /** Keys for objects with a successful last run and an expected change to the revision. */
  candidates(revision: string): readonly string[] {
    return this.#index.get(`candidate ${revision}`);
  }

  #runs(value: string): ReadonlyMap<string, CountedRun> {
    const runs = this.#index.get(value).flatMap((key) => {
      const run = this.#nodes.get(key)?.run;
      return run ? [[key, run] as const] : [];
    });
    return new Map(runs);
  }

  /** Handled values of `rollout-continue` on a source's objects. */
  continuedOf(source: string): readonly Continued[] {
    return this.#index.get(`continued ${source}`).flatMap((key) => this.get(key)?.continued ?? []);
  }

  /** Failures in all revisions of a source. */
  failuresOf(source: string): readonly Failed[] {
    return this.#index.get(`failed-of ${source}`).flatMap((key) => this.get(key)?.run ?? []);
  }

  /** Number of nodes in a state. */
  count(state: RolloutState): number {
    return this.#index.count(`state ${state}`);
  }

  /** True if an agent with the image has reported on a node in this cluster. */
  isProven(): boolean {
    return this.#index.count(`image ${this.#image}`) > 0;
  }
}

function valuesOf(node: RolloutNode): readonly string[] {
  const { wanted, source, run, continued, states, provenImage, isCandidate } = node;
  return [
    ...(wanted === undefined ? [] : [`wanted ${wanted}`]),
    ...(isCandidate ? [`candidate ${wanted}`] : []),
    ...(run ? runValues(run, wanted) : []),
    ...(continued ? [`continued ${source}`] : []),
    ...states.map((state) => `state ${state}`),
    ...(provenImage === undefined ? [] : [`image ${provenImage}`]),
  ];
}

/** A run for a revision that the object no longer wants does not block other nodes. */
function runValues({ phase, revision }: CountedRun, wanted: string | undefined): readonly string[] {
  if (phase === 'started' && wanted !== revision) return [];
  const value = `${phase} ${revision}`;
  return phase === 'failed' ? [value, `failed-of ${sourceIn(revision)}`] : [value];
}

/** An observed node takes no part in a rollout, even after a counted or failed run. */
function rolloutNodeOf(config: NodeConfig, image: string): RolloutNode {
  const node = nodeInRollout(config, image);
  if (!isObserved(config)) return node;
  const apart = { wanted: undefined, run: undefined, isDone: undefined };
  return { ...node, ...apart, states: [], isCandidate: false };
}

function nodeInRollout(config: NodeConfig, image: string): RolloutNode {
  const { metadata } = config;
  const status = config.status && !isWrittenByLegacy(config.status) ? config.status : undefined;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const record = recordIn(config);
  const run = countedRun(status, record);
  const source = sourceOf(config);
  const wanted = isLeaving ? undefined : wantedRevision(config, image, source);
  return {
    wanted,
    source: source.uid,
    run,
    continued: continuedIn(status),
    states: statesOf(status, run),
    provenImage: provenImageOf(status),
    isDone: isDoneIn(config, record),
    node: record?.nodeName,
    isCandidate: !isLeaving && isCandidateFor(config, wanted, record) && isExpected(config),
  };
}

/** A node waiting for its boot is done. Before an adoption, NICs refused for existing configuration are no failure. */
function isDoneIn(config: NodeConfig, record: RecordFields | undefined): boolean | undefined {
  if (!record || (isNewAdoption(config) && isOnlyRefused(record))) return undefined;
  if (hasFailed(record)) return false;
  return record.done === undefined ? undefined : true;
}

/** True if the last run is done, configured NICs or left them for an adoption, and was for another revision. */
function isCandidateFor(
  config: NodeConfig,
  wanted: string | undefined,
  record: RecordFields | undefined,
): boolean {
  if (record?.action !== 'apply' || record.revision === wanted) return false;
  const adopts = isNewAdoption(config);
  if (adopts && isOnlyRefused(record)) return true;
  if (isDoneIn(config, record) !== true) return false;
  return adopts || record.macs === undefined || record.macs.length > 0;
}

/**
 * True if a run may come. A status without the current generation may still become a waiting change; a current status
 * must show a waiting change.
 */
function isExpected(config: NodeConfig): boolean {
  const { metadata, status } = config;
  if (prohibitionOf(config, 'apply')) return false;
  if (status?.observedGeneration !== metadata.generation) return true;
  return findCondition(status?.conditions, 'Ready')?.reason === 'RolloutWaiting';
}

type Status = NodeConfig['status'];

function countedRun(status: Status, applied: RecordFields | undefined): CountedRun | undefined {
  const phase = phaseIn(status);
  if (!applied) return undefined;
  const { revision, nodeName = '', job = '', at, failedBefore = false } = applied;
  if (revision === undefined || phase === undefined) return undefined;
  return { revision, phase, node: nodeName, job, at: timeIn(at), failedBefore };
}

function phaseIn(status: Status): RolloutPhase | undefined {
  const phase = phases.find((known) => known === status?.applied?.rollout);
  return phase === 'started' && isOverdue(status) ? 'failed' : phase;
}

/** True if the run is past its deadline: on an unreachable node the Pod stays forever, and no result arrives. */
function isOverdue(status: Status): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'False' && ready.reason === 'DeadlineExceeded';
}

const phases: readonly RolloutPhase[] = ['started', 'done', 'failed'];

/** An unreadable time was edited by hand and counts as the oldest possible time. */
function timeIn(text: string | undefined): number {
  return Date.parse(text ?? '') || 0;
}

function continuedIn(status: Status): Continued | undefined {
  const { value, at, until } = status?.rolloutContinued ?? {};
  if (value === undefined) return undefined;
  return { value, at: timeIn(at), ...(until === undefined ? {} : { until: timeIn(until) }) };
}

const stateOfPhase = { started: 'running', done: 'done', failed: 'failed' } as const;

function statesOf(status: Status, run: CountedRun | undefined): readonly RolloutState[] {
  const { conditions } = status ?? {};
  if (findCondition(conditions, 'RolloutStopped')?.status === 'True') return ['stopped'];
  if (findCondition(conditions, 'Ready')?.reason === 'RolloutWaiting') return ['waiting'];
  return run ? [stateOfPhase[run.phase]] : [];
}

function provenImageOf(status: Status): string | undefined {
  const { revision, done, reasons } = status?.applied ?? {};
  if (revision === undefined || !isReported({ done, reasons })) return undefined;
  return imageIn(revision);
}
