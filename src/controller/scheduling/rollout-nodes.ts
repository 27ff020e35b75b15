import { findCondition } from '../../api/condition.ts';
import type { Change, Store } from '../../kube/cache/store.ts';
import { StoreIndex } from '../../kube/cache/store-index.ts';
import type { RolloutPhase } from '../jobs/applied.ts';
import { isWrittenByOther, type NodeConfig } from '../objects/stores.ts';
import { isReported, revisionOf, sourceOf } from './revision.ts';
import type { Continued, Failed } from './rollout.ts';

/** States of nodes in the metric `multinic_rollout_nodes`. */
export const rolloutStates = ['waiting', 'running', 'done', 'failed', 'stopped'] as const;

export type RolloutState = (typeof rolloutStates)[number];

/** What the rollout needs of one object. */
export interface RolloutNode {
  /** Undefined while the object is being deleted. */
  readonly wanted: string | undefined;
  readonly source: string;
  /** The run that the budget counts last. */
  readonly run: CountedRun | undefined;
  readonly continued: Continued | undefined;
  readonly states: readonly RolloutState[];
  /** Hash of the agent image whose agent has reported. */
  readonly provenImage: string | undefined;
}

export interface CountedRun {
  readonly revision: string;
  /** `failed` also for a run that is over its deadline and whose Pod does not end. */
  readonly phase: RolloutPhase;
  readonly node: string;
  /** Name of the Job. */
  readonly job: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Records of all objects by revision. It follows the store of objects, which keeps them as text: a decision parses none of them,
 * and a process that starts again finds the same.
 */
export class RolloutNodes {
  readonly #image: string;
  readonly #nodes = new Map<string, RolloutNode>();
  readonly #index = new StoreIndex<RolloutNode>(valuesOf);

  /** `image`: hash of the agent image, as in a revision. */
  constructor(image: string) {
    this.#image = image;
  }

  /** Calls `listener` with the key and both versions of an object after each change of the store. */
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

  /** How many objects want a revision. */
  total(revision: string): number {
    return this.#index.count(`wanted ${revision}`);
  }

  done(revision: string): number {
    return this.#index.count(`done ${revision}`);
  }

  /** Keys and runs of objects that want the revision and whose run has begun and not ended. */
  started(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`started ${revision}`);
  }

  /** The same of all revisions. */
  allStarted(): ReadonlyMap<string, CountedRun> {
    return this.#runs('state running');
  }

  failed(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`failed ${revision}`);
  }

  #runs(value: string): ReadonlyMap<string, CountedRun> {
    const runs = this.#index.get(value).flatMap((key) => {
      const run = this.#nodes.get(key)?.run;
      return run ? [[key, run] as const] : [];
    });
    return new Map(runs);
  }

  /** Handled values of `rollout-continue` on objects of a source. */
  continuedOf(source: string): readonly Continued[] {
    return this.#index.get(`continued ${source}`).flatMap((key) => this.get(key)?.continued ?? []);
  }

  /** Failures of all revisions of a source. */
  failuresOf(source: string): readonly Failed[] {
    return this.#index.get(`failed-of ${source}`).flatMap((key) => this.get(key)?.run ?? []);
  }

  /** How many nodes are in a state. */
  count(state: RolloutState): number {
    return this.#index.count(`state ${state}`);
  }

  /** Whether an agent of the image has reported on a node of this cluster. */
  isProven(): boolean {
    return this.#index.count(`image ${this.#image}`) > 0;
  }
}

/** Source of a revision: the text before its first slash. */
export function sourceIn(revision: string): string {
  return revision.slice(0, revision.indexOf('/'));
}

/** Hash of the image of a revision: the text after its last slash. */
export function imageIn(revision: string): string {
  return revision.slice(revision.lastIndexOf('/') + 1);
}

function valuesOf(node: RolloutNode): readonly string[] {
  const { wanted, source, run, continued, states, provenImage } = node;
  return [
    ...(wanted === undefined ? [] : [`wanted ${wanted}`]),
    ...(run ? runValues(run, wanted) : []),
    ...(continued ? [`continued ${source}`] : []),
    ...states.map((state) => `state ${state}`),
    ...(provenImage === undefined ? [] : [`image ${provenImage}`]),
  ];
}

/** A run that has begun for a revision that its object no longer wants keeps no other node waiting. */
function runValues({ phase, revision }: CountedRun, wanted: string | undefined): readonly string[] {
  if (phase === 'started' && wanted !== revision) return [];
  const value = `${phase} ${revision}`;
  return phase === 'failed' ? [value, `failed-of ${sourceIn(revision)}`] : [value];
}

export function rolloutNodeOf(config: NodeConfig, image: string): RolloutNode {
  const { metadata } = config;
  const source = sourceOf(config);
  const status = config.status && !isWrittenByOther(config.status) ? config.status : undefined;
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const run = countedRun(status, metadata.uid);
  return {
    wanted: isLeaving ? undefined : revisionOf(source, image),
    source: source.uid,
    run,
    continued: continuedIn(status),
    states: statesOf(status, run),
    provenImage: provenImageOf(status),
  };
}

type Status = NodeConfig['status'];

function countedRun(status: Status, uid: string | undefined): CountedRun | undefined {
  const applied = status?.applied;
  const phase = phaseIn(status);
  if (!applied || applied.undone || applied.objectUid !== uid) return undefined;
  const { revision, nodeName = '', job = '', at } = applied;
  if (revision === undefined || phase === undefined) return undefined;
  return { revision, phase, node: nodeName, job, at: timeIn(at) };
}

function phaseIn(status: Status): RolloutPhase | undefined {
  const phase = phases.find((known) => known === status?.applied?.rollout);
  return phase === 'started' && isOverdue(status) ? 'failed' : phase;
}

/** Whether the run is over its deadline: on a node that does not answer its Pod stays for ever, and no result comes. */
function isOverdue(status: Status): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  return ready?.status === 'False' && ready.reason === 'DeadlineExceeded';
}

const phases: readonly RolloutPhase[] = ['started', 'done', 'failed'];

/** A time that cannot be read is as old as can be: it was edited by hand. */
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
