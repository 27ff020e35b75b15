import type { AdmittedChanges } from './admitted-changes.ts';
import { sourceIn } from './revision.ts';
import { isExcused, type Tally } from './rollout.ts';
import type { CountedRun } from './rollout-node.ts';
import type { RolloutNodes } from './rollout-nodes.ts';

interface TallyOptions {
  readonly records: RolloutNodes;
  readonly admitted: Pick<AdmittedChanges, 'to'>;
  /** True if a result may still come. */
  readonly isAwaited: (run: CountedRun) => boolean;
  readonly now: Date;
  /** Key of a change to leave out. */
  readonly except: string | undefined;
}

/** Counts the nodes of a revision: with a run under way or about to start, completed, and failed. */
export function tallyOf(
  revision: string,
  { records, admitted, isAwaited, now, except }: TallyOptions,
): Tally {
  const continued = records.continuedOf(sourceIn(revision));
  const started = [...records.started(revision)];
  const running = started.filter(([, run]) => isAwaited(run));
  const lost = started.filter(([, run]) => !isAwaited(run));
  const failures = [...records.failed(revision), ...lost]
    .filter(([key, { at }]) => key !== except && !isExcused(at, continued, now.getTime()))
    .map(([, run]) => run);
  const counted = new Set(running.map(([key]) => key));
  const coming = admitted.to(revision).filter(({ key }) => key !== except && !counted.has(key));
  return {
    total: records.total(revision),
    running: [
      ...running.map(([, { node }]) => node),
      ...coming.map(({ node }) => node.metadata.name),
    ],
    done: records.done(revision),
    failures: failures.filter((run) => !isTolerated(run)),
    tolerated: failures.filter(isTolerated).length,
  };
}

function isTolerated({ failedBefore }: CountedRun): boolean {
  return failedBefore;
}
