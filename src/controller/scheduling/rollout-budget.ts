import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import type { Applied } from '../jobs/applied.ts';
import type { Contents } from '../jobs/request.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { AdmittedChanges, type Change } from './admitted-changes.ts';
import { createHold, type Hold } from './held-change.ts';
import { type NodeChange, nodeChangeOf } from './node-change.ts';
import { createRefusals } from './refusals.ts';
import { imageHash, imageIn, isReported, sourceIn, wantedRevision } from './revision.ts';
import { joinedRefusal, progressOf, type Refusal, type Tally } from './rollout.ts';
import { type ContinuedStatus, continuedBy, withoutExcused } from './rollout-continue.ts';
import { createRolloutDomains } from './rollout-domains.ts';
import type { CountedRun, RolloutNode, RolloutState } from './rollout-node.ts';
import { RolloutNodes } from './rollout-nodes.ts';
import { tallyOf } from './rollout-tally.ts';
import { RolloutWaiting } from './rollout-waiting.ts';
import { hasSoundNode } from './sound-nodes.ts';

type RolloutPermission =
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
  /** Returns what the budget counts in a run with these contents. */
  changeOf(config: NodeConfig, node: Node, contents: Contents): NodeChange;
  request(change: Change): RolloutPermission;
  readonly hold: Hold;
  /** Unhandled value of `rollout-continue`; undefined: no new value. */
  continuedBy(config: NodeConfig): ContinuedStatus | undefined;
  /** True if an agent with the image has reported on a node in this cluster. */
  readonly isImageProven: () => boolean;
  /** Returns a run's record, without failures if a user continued the rollout after the run started. */
  withoutExcused(record: Applied): Applied;
  /** Number of nodes in a state, over all revisions. */
  count(state: RolloutState): number;
  /** Notes a finished run before its record is deleted with the object. */
  ended(record: Pick<Applied, 'done' | 'reasons' | 'revision'>): void;
}

interface RolloutOptions {
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

export function createRollout(options: RolloutOptions): Rollout {
  const { domainLabel, hasJob, clock } = options;
  const image = imageHash(options.image);
  const records = new RolloutNodes(image);
  const admitted = new AdmittedChanges(clock);
  const waiting = new RolloutWaiting();
  const sound = { records, admitted, nodes: options.nodes, isAwaited, isStopped };
  const domains = createRolloutDomains({ ...options, records, admitted });
  const refusals = createRefusals({ ...sound, clock, waiting, domains, tallyOf: tallyNow });
  let hasReported = false;

  function proven(): void {
    if (hasReported) return;
    hasReported = true;
    options.onImageProven();
  }

  function onChange(key: string, versions: readonly RolloutNode[]): void {
    const { wanted = [] } = records.get(key) ?? {};
    const isUnwanted = (revision: string) => !wanted.includes(revision);
    if (admitted.revisionsOf(key).some(isUnwanted)) admitted.delete(key);
    waiting.delete(key, waiting.revisionsOf(key).filter(isUnwanted));
    if (versions.some(({ provenImage }) => provenImage === image)) proven();
    review(versions);
  }

  function review(versions: readonly RolloutNode[]): void {
    const touched = new Set(
      versions.flatMap(({ source, runs }) => [
        source,
        ...runs.map(({ revision }) => sourceIn(revision)),
      ]),
    );
    for (const revision of waiting.revisions) {
      // A free domain is free for every source.
      if (domainLabel !== undefined || touched.has(sourceIn(revision))) wakeFor(revision);
    }
  }

  function wakeFor(revision: string): void {
    const { step, room } = progressOf(tallyNow(revision));
    const domain = domains.atWork();
    const hasSound = () => hasSoundNode(revision, undefined, sound);
    options.wake(waiting.take(revision, { step, room, domain, hasSound }));
  }

  function tallyNow(revision: string, except?: string): Tally {
    return tallyOf(revision, { records, admitted, isAwaited, now: clock.now(), except });
  }

  /** True if a result may still come: the Job and the Node both exist. */
  function isAwaited({ job, node }: CountedRun): boolean {
    return hasJob(job) && options.nodes.get(node) !== undefined;
  }

  function isStopped(revision: string): boolean {
    return progressOf(tallyNow(revision)).step === 'stopped';
  }

  function request(change: Change): RolloutPermission {
    const { key } = change;
    const revisions = change.revisions.map(({ revision }) => revision);
    const refused = refusals.refuse(change);
    if (refused.size > 0) {
      admitted.delete(key);
      return { granted: false, why: joinedRefusal([...refused.values()]) };
    }
    waiting.delete(key, revisions);
    admitted.start(change);
    return {
      granted: true,
      release: () => {
        admitted.delete(key);
        // A run that failed to start frees its share for another node.
        for (const revision of waiting.revisions) {
          if (revisions.includes(revision)) wakeFor(revision);
        }
      },
      reserve: () => admitted.reserve(change),
    };
  }

  records.follow(options.configs, onChange);
  return {
    revisionOf: (config) => wantedRevision(config, image),
    request,
    changeOf: (config, node, contents) => nodeChangeOf(config, image, node, contents),
    hold: createHold({ image, ...refusals }),
    continuedBy: (config) => continuedBy(config, records, clock.now()),
    isImageProven: () => hasReported || records.isProven(),
    withoutExcused: (record) => withoutExcused(record, records, clock.now()),
    count: (state) => records.count(state),
    ended: (record) => {
      // A Job with an earlier image may finish after an upgrade.
      if (imageIn(record.revision ?? '') === image && isReported(record)) proven();
    },
  };
}
