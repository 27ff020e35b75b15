import type { Change, Store } from '../../kube/cache/store.ts';
import { StoreIndex } from '../../kube/cache/store-index.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { sourceIn } from './revision.ts';
import type { Continued, Failed } from './rollout.ts';
import {
  type CountedRun,
  type RolloutNode,
  type RolloutState,
  rolloutNodeOf,
} from './rollout-node.ts';

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

  /**
   * Number of nodes completed successfully. Not counted: a node that got the setting before the nodes ahead got their
   * present values. An undone edit never reached such a node, because the node was paused.
   */
  done(revision: string): number {
    const value = `done ${revision}`;
    const since = this.#since(revision);
    if (since === undefined) return this.#index.count(value);
    // Records have whole seconds: runs in the same second prove nothing.
    return [...this.#runs(value, revision).values()].filter(({ at }) => at > since).length;
  }

  /** Returns the latest start of a run with a value that the setting replaces. */
  #since(revision: string): number | undefined {
    const times = this.#index.get(`former ${revision}`).flatMap((key) => {
      const ahead = this.get(key)?.ahead.find((one) => one.revision === revision);
      return ahead?.since ?? [];
    });
    return times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b));
  }

  /** Keys and runs for objects that want the revision and have an unfinished run. */
  started(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`started ${revision}`, revision);
  }

  /** Unfinished runs over all revisions, one per object. */
  allStarted(): ReadonlyMap<string, CountedRun> {
    return this.#runs('running');
  }

  failed(revision: string): ReadonlyMap<string, CountedRun> {
    return this.#runs(`failed ${revision}`, revision);
  }

  /** Keys for objects with a successful last run and an expected change to the revision. */
  candidates(revision: string): readonly string[] {
    return this.#index.get(`candidate ${revision}`);
  }

  /** `of`: revision; undefined: any started run. */
  #runs(value: string, of?: string): ReadonlyMap<string, CountedRun> {
    const runs = this.#index.get(value).flatMap((key) => {
      const run = this.#nodes
        .get(key)
        ?.runs.find(({ revision, phase }) =>
          of === undefined ? phase === 'started' : revision === of,
        );
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
    return this.#index
      .get(`failed-of ${source}`)
      .flatMap((key) => this.get(key)?.runs ?? [])
      .filter(({ phase, revision }) => phase === 'failed' && sourceIn(revision) === source);
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
  const { wanted, ahead, source, runs, continued, states, provenImage, isCandidate } = node;
  const values = [
    ...wanted.map((revision) => `wanted ${revision}`),
    ...(isCandidate ? ahead.map(({ revision }) => `candidate ${revision}`) : []),
    ...ahead.flatMap(({ revision, since }) => (since === undefined ? [] : `former ${revision}`)),
    ...runs.flatMap((run) => runValues(run, wanted)),
    ...(continued ? [`continued ${source}`] : []),
    ...states.map((state) => `state ${state}`),
    ...(provenImage === undefined ? [] : [`image ${provenImage}`]),
  ];
  return [...new Set(values)];
}

/** A run for a revision that the object no longer wants does not block other nodes. */
function runValues({ phase, revision }: CountedRun, wanted: readonly string[]): readonly string[] {
  const value = `${phase} ${revision}`;
  if (phase === 'failed') return [value, `failed-of ${sourceIn(revision)}`];
  if (phase === 'done') return [value];
  return wanted.includes(revision) ? [value, 'running'] : ['running'];
}
