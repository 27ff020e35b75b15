import { managedObjects } from '../../../api/names.ts';
import { deployments } from '../../../kube/core-resources.ts';
import type { Operation } from '../../model/mariadb/operation-record.ts';
import { hasOperatorPods, runOf } from '../../model/mariadb/operation-runs.ts';
import { databasePod, isReady } from '../../model/mariadb/pod-state.ts';
import { installedVolume } from '../../model/mariadb/volume.ts';
import type { Observed } from '../../model/stage.ts';
import { restoreTask } from '../backup/restore.ts';
import { next, type Steps, type Verdict, wait, waitForBackups } from './verdict.ts';

/** Maximum Job runs without a result. */
const maxLostRuns = 3;

/**
 * Restores a backup: loads and checks a copy beside the live schema, stops the operator, swaps the schemas, and starts
 * the operator again. Up to `stop` the live data is unchanged; from `swap` on, each run ends forward.
 */
export const restoreSteps: Steps = {
  prepare(observed) {
    const waiting = waitForBackups(observed);
    if (waiting) return waiting;
    if (!isReady(databasePod(observed))) return wait('waits for MariaDB to be ready');
    return next('load');
  },

  load(observed, operation) {
    const run = runOf(observed, operation);
    if (run.state === 'done') {
      const volume = installedVolume(observed);
      return next('stop', { replicas: replicasOf(observed), ...(volume ? { volume } : {}) });
    }
    // The script reports the state of the data, too.
    if (run.state === 'failed') return finish(operation, run.at, false, run.why);
    if (run.state === 'lost') {
      const { lostRuns = 0 } = operation;
      return lostRuns + 1 < maxLostRuns
        ? repeated(operation)
        : finish(operation, run.at, false, `${run.why} (${maxLostRuns} times); ${unchanged}`);
    }
    return isLate(observed, operation)
      ? finish(
          operation,
          observed.now.toISOString(),
          false,
          `${operation.deadline} has passed; ${unchanged}`,
        )
      : wait('a Job loads and checks the copy');
  },

  stop(observed) {
    if (hasOperatorPods(observed)) return wait('waits for the Pods of the operator to end');
    return isStopped(observed) ? next('swap', { lostRuns: 0 }) : wait('the operator is stopped');
  },

  swap(observed, operation) {
    const run = runOf(observed, operation);
    if (run.state === 'done') {
      const { file, at } = run;
      return next('finish', { outcome: { file, at, touched: true }, lostRuns: 0 });
    }
    if (run.state === 'running') return wait('a Job swaps the copy and the live data');
    // Every run ends forward, hence a failed run is repeated too.
    const { lostRuns = 0 } = operation;
    if (lostRuns + 1 >= maxLostRuns) return finish(operation, run.at, true, run.why);
    if (!isReady(databasePod(observed))) return wait('waits for MariaDB to be ready');
    return repeated(operation);
  },

  /** Ends once the operator has the former replicas and the status has the result. */
  finish(observed, operation) {
    const { replicas = 0, request } = operation;
    const { lastRestore } = observed.status.databaseStatus ?? {};
    const live = observed.objects.find(deployments, managedObjects.controller);
    if (live?.spec?.replicas === 0 && replicas > 0) return wait('the operator is started');
    return lastRestore?.request === request ? { go: 'end' } : wait('the result is written');
  },
};

function replicasOf({ objects }: Observed): number {
  return objects.find(deployments, managedObjects.controller)?.spec?.replicas ?? 1;
}

function isStopped({ objects }: Observed): boolean {
  const live = objects.find(deployments, managedObjects.controller);
  if (!live) return true;
  const { replicas = 0, observedGeneration = 0 } = live.status ?? {};
  const isCurrent = observedGeneration >= (live.metadata.generation ?? 0);
  return isCurrent && live.spec?.replicas === 0 && replicas === 0;
}

function isLate({ now }: Observed, { deadline }: Operation): boolean {
  return now.getTime() > Date.parse(deadline);
}

function repeated({ step, lostRuns = 0 }: Operation): Verdict {
  return next(step, { lostRuns: lostRuns + 1 });
}

const unchanged = 'nothing was changed';

function finish({ request }: Operation, at: string, touched: boolean, failure: string): Verdict {
  return next('finish', {
    outcome: { file: restoreTask(request).file, at, touched, failure },
    lostRuns: 0,
  });
}
