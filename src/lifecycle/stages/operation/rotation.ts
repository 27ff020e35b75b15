import { annotations, managedObjects } from '../../../api/names.ts';
import { secrets } from '../../../kube/core-resources.ts';
import {
  credentialsRevision,
  revisionAnnotation,
} from '../../model/mariadb/credentials-revision.ts';
import { databasePod, isReady } from '../../model/mariadb/pod-state.ts';
import { renamedDatabase } from '../credentials/renamed-database.ts';
import { next, type Steps, wait, waitForBackups } from './verdict.ts';

/** Replaces passwords: writes the Secret and restarts MariaDB. */
export const rotationSteps: Steps = {
  prepare(observed) {
    return waitForBackups(observed) ?? next('write');
  },

  write(observed, { request }) {
    const secret = observed.objects.find(secrets, managedObjects.credentials);
    const written = secret?.metadata.annotations?.[annotations.rotateCredentials];
    if (written === request) return next('restart');
    // The rotation starts again with an accepted name.
    return renamedDatabase(observed) ? { go: 'end' } : wait('the Secret is written');
  },

  restart(observed, { deadline }) {
    const pod = databasePod(observed);
    const revision = credentialsRevision(
      observed.objects.find(secrets, managedObjects.credentials),
    );
    const isCurrent = pod?.metadata.annotations?.[revisionAnnotation] === revision;
    if (isCurrent && isReady(pod)) return { go: 'end' };
    // The database stage reports a Pod without progress.
    return observed.now.getTime() > Date.parse(deadline)
      ? { go: 'end' }
      : wait('MariaDB restarts with the new passwords');
  },
};
