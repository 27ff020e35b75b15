import type { Node } from '../../kube/core-resources.ts';
import type { Clock } from '../../time/clock.ts';
import { type Applied, type RolloutPhase, recordOf } from '../jobs/applied.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { AdmittedChanges, type Change } from './admitted-changes.ts';
import { createHold, type Hold } from './held-change.ts';
import { imageHash, imageIn, isReported, sourceIn, wantedRevision } from './revision.ts';
import {
  lastMessage,
  type Progress,
  progressOf,
  type Refusal,
  type Tally,
  waitingMessage,
} from './rollout.ts';
import { type ContinuedStatus, continuedBy, withoutExcused } from './rollout-continue.ts';
import { createRolloutDomains } from './rollout-domains.ts';
import {
  type CountedRun,
  type RolloutNode,
  RolloutNodes,
  type RolloutState,
} from './rollout-nodes.ts';
import { tallyOf } from './rollout-tally.ts';
import { RolloutWaiting } from './rollout-waiting.ts';
import { FirstRequests, hasSoundNode } from './sound-nodes.ts';

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
  request(change: Change): RolloutPermission;
  readonly hold: Hold;
  /** Phase inherited from the object's record for this revision; undefined: the run no longer counts. */
  carriedPhase(config: NodeConfig, revision: string): RolloutPhase | undefined;
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
  const sound = { records, admitted, nodes: options.nodes, isAwaited };
  const firstRequests = new FirstRequests(clock);
  const domains = createRolloutDomains({ ...options, records, admitted });
  let hasReported = false;

  function proven(): void {
    if (hasReported) return;
    hasReported = true;
    options.onImageProven();
  }

  function onChange(key: string, versions: readonly RolloutNode[]): void {
    const wanted = records.get(key)?.wanted;
    if (admitted.revisionOf(key) !== wanted) admitted.delete(key);
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

  function request(change: Change): RolloutPermission {
    const { key, revision } = change;
    const why = refuse(change);
    if (why) return { granted: false, why };
    waiting.delete(key);
    admitted.start(change);
    return {
      granted: true,
      release: () => {
        admitted.delete(key);
        // A run that failed to start frees its share for another node.
        if (waiting.revisions.includes(revision)) wakeFor(revision);
      },
      reserve: () => admitted.reserve(change),
    };
  }

  function refuse(change: Change): Refusal | undefined {
    const { key, revision, node } = change;
    const why = refusalOf(change);
    if (!why) return undefined;
    admitted.delete(key);
    const domain = domains.of(node);
    waiting.add({ key, revision, domain, step: why.shows, isLast: why.isLast });
    return why.refusal;
  }

  function refusalOf({ key, revision, node }: Change) {
    const tally = tallyNow(revision, key);
    const progress = progressOf(tally);
    const hasFailed = progress.step !== 'stopped' && records.get(key)?.isDone === false;
    if (hasFailed && hasSoundNode(revision, key, sound)) {
      return refusal(lastMessage(tally), progress, { isLast: true });
    }
    const inMs = hasFailed && progress.step === 'canary' ? firstRequests.restMs(revision) : 0;
    if (inMs > 0) return refusal(lastMessage(tally), progress, { isLast: true, inMs });
    if (progress.room < 1) return refusal(waitingMessage(progress, tally), progress);
    const message = domains.refusalOf(key, node);
    return message === undefined ? undefined : refusal(message, progress);
  }

  records.follow(options.configs, onChange);
  return {
    revisionOf: (config) => wantedRevision(config, image),
    request,
    hold: createHold({ image, refuse }),
    carriedPhase(config, revision) {
      const record = recordOf(config);
      if (!record || record.undone || record.revision !== revision) return undefined;
      return withoutExcused(record, records, clock.now()).rollout;
    },
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

interface Last {
  readonly isLast: boolean;
  readonly inMs?: number;
}

function refusal(message: string, { step }: Progress, { isLast, ...at }: Last = { isLast: false }) {
  const why: Refusal = { reason: 'RolloutWaiting', message, isStopped: step === 'stopped', ...at };
  return { refusal: why, shows: step, isLast };
}
