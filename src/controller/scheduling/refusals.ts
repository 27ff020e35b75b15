import type { Clock } from '../../time/clock.ts';
import type { AdmittedChanges, Change, WantedRevision } from './admitted-changes.ts';
import type { Refusals } from './held-change.ts';
import {
  lastMessage,
  type Progress,
  progressOf,
  type Refusal,
  type Tally,
  waitingMessage,
} from './rollout.ts';
import type { RolloutDomains } from './rollout-domains.ts';
import type { RolloutWaiting } from './rollout-waiting.ts';
import { FirstRequests, hasSoundNode, type SoundNodesOptions } from './sound-nodes.ts';

interface RefusalsOptions extends SoundNodesOptions {
  readonly admitted: Pick<AdmittedChanges, 'to' | 'revisionsOf' | 'delete'>;
  readonly waiting: Pick<RolloutWaiting, 'set'>;
  readonly domains: Pick<RolloutDomains, 'of' | 'refusalOf'>;
  /** Counts the nodes of a revision, without an object. */
  readonly tallyOf: (revision: string, except: string) => Tally;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Decides which revisions of a change must wait. */
export function createRefusals(options: RefusalsOptions) {
  const { records, admitted, waiting, domains, tallyOf, clock } = options;
  const firstRequests = new FirstRequests(clock);

  /** Notes the refused revisions, whose progress wakes the object. */
  function refuse(change: Change): Refusals {
    const { key, node } = change;
    const refused = refusedIn(change);
    const isRefused = (revision: string) => refused.some((one) => one.revision === revision);
    if (admitted.revisionsOf(key).some(isRefused)) admitted.delete(key);
    const domain = domains.of(node);
    if (refused.length > 0) {
      const changes = refused.map(({ revision, shows, isLast }) => {
        return { revision, domain, step: shows, isLast };
      });
      waiting.set(key, changes);
    }
    return refusalsIn(refused);
  }

  function refusedIn(change: Change) {
    return change.revisions.flatMap((wanted) => {
      const why = refusalOf(wanted, change);
      return why ? [{ ...why, revision: wanted.revision }] : [];
    });
  }

  function refusalOf({ revision, name }: WantedRevision, { key, node }: Change) {
    const tally = tallyOf(revision, key);
    const progress = progressOf(tally);
    const hasFailed = progress.step !== 'stopped' && records.get(key)?.isDone === false;
    if (hasFailed && hasSoundNode(revision, key, options)) {
      return refusal(lastMessage(tally, name), progress, { isLast: true });
    }
    const inMs = hasFailed && progress.step === 'canary' ? firstRequests.restMs(revision) : 0;
    if (inMs > 0) return refusal(lastMessage(tally, name), progress, { isLast: true, inMs });
    if (progress.room < 1) return refusal(waitingMessage(progress, tally, name), progress);
    const message = domains.refusalOf(key, node);
    return message === undefined ? undefined : refusal(message, progress);
  }

  return { refuse, refusalsOf: (change: Change): Refusals => refusalsIn(refusedIn(change)) };
}

interface Last {
  readonly isLast: boolean;
  readonly inMs?: number;
}

function refusal(message: string, { step }: Progress, { isLast, ...at }: Last = { isLast: false }) {
  const why: Refusal = { reason: 'RolloutWaiting', message, isStopped: step === 'stopped', ...at };
  return { refusal: why, shows: step, isLast };
}

function refusalsIn(
  refused: readonly { readonly revision: string; readonly refusal: Refusal }[],
): Refusals {
  return new Map(refused.map((one) => [one.revision, one.refusal]));
}
