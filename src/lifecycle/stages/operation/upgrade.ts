import { managedObjects } from '../../../api/names.ts';
import { statefulSets } from '../../../kube/core-resources.ts';
import { imageOf, pullFailure } from '../../model/mariadb/image-change.ts';
import type { Operation } from '../../model/mariadb/operation-record.ts';
import { jobNameOf, runOf } from '../../model/mariadb/operation-runs.ts';
import {
  databasePod,
  isReady,
  leftDataUntouched,
  refusalText,
} from '../../model/mariadb/pod-state.ts';
import { jobOf } from '../../model/mariadb/run-result.ts';
import { whyNotRunning } from '../../model/pod-problem.ts';
import type { Observed } from '../../model/stage.ts';
import { next, type Steps, type Verdict, wait, waitForBackups } from './verdict.ts';

/** Changes the image: makes a verified backup, tries the new image on the Pod's node, and replaces the Pod. */
export const upgradeSteps: Steps = {
  prepare(observed) {
    const waiting = waitForBackups(observed);
    if (waiting) return waiting;
    // If no server ever opened the data, no backup is possible.
    return next(leftDataUntouched(databasePod(observed)) ? 'check' : 'backup');
  },

  backup(observed, operation) {
    const run = runOf(observed, operation);
    if (run.state === 'done') return next('check', { lostRuns: 0 });
    return ended(run) ?? wait(`a Job makes a verified backup${readiness(observed)}`);
  },

  check(observed, operation) {
    const run = runOf(observed, operation);
    if (run.state === 'done') return next('replace', { lostRuns: 0 });
    if (pullFailure(observed, jobNameOf(observed, operation)) !== undefined) return { go: 'end' };
    return ended(run) ?? wait(`a Job tries the new image${obstacle(observed, operation)}`);
  },

  replace(observed, { request, deadline }) {
    const pod = databasePod(observed);
    const live = observed.objects.find(statefulSets, managedObjects.database);
    const runs = pod?.spec?.containers.find(({ name }) => name === managedObjects.database)?.image;
    const isCurrent = live !== undefined && imageOf(live) === request && runs === request;
    const isOver = isReady(pod) || refusalText(pod) !== undefined;
    if (isCurrent && isOver) return { go: 'end' };
    return observed.now.getTime() > Date.parse(deadline)
      ? { go: 'end' }
      : wait('MariaDB starts with the new image');
  },
};

/** A failed backup or check ends the operation; the failed Job shows why. */
function ended({ state }: { readonly state: string }): Verdict | undefined {
  return state === 'failed' || state === 'lost' ? { go: 'end' } : undefined;
}

function obstacle(observed: Observed, operation: Operation): string {
  const job = jobNameOf(observed, operation);
  const pod = observed.pods.find((one) => jobOf(one) === job);
  const why = pod && whyNotRunning(pod);
  return why === undefined ? '' : ` (${why})`;
}

function readiness(observed: Observed): string {
  return isReady(databasePod(observed)) ? '' : ' once MariaDB is ready';
}
