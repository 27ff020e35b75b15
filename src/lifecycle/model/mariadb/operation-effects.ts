import { managedObjects } from '../../../api/names.ts';
import { deployments } from '../../../kube/core-resources.ts';
import type { Observed } from '../stage.ts';
import { type Operation, recordIn } from './operation-record.ts';
import { runningBackups } from './operation-runs.ts';
import { isReplaced } from './volume.ts';

/** Effects from the stored operation on objects. */
export interface Effects {
  /** True: the Secret keeps the passwords. */
  readonly keepsSecret: boolean;
  /** True: an existing StatefulSet stays unchanged. */
  readonly keepsServer: boolean;
  /** True: no scheduled backup starts. Dumps of a new empty volume would push out the backups of the lost data. */
  readonly suspendsBackups: boolean;
  /** Request whose passwords are written now. */
  readonly rotation?: string;
  /** Operator replicas; undefined: from the spec. */
  readonly replicas?: number;
}

/** Returns the stored operation's effects; a running backup keeps Secret and StatefulSet too. */
export function effectsOf(observed: Observed): Effects {
  const { operation, unreadable } = recordIn(observed);
  if (unreadable !== undefined) {
    return { keepsSecret: true, keepsServer: true, suspendsBackups: true };
  }
  if (!operation) {
    const isBackingUp = runningBackups(observed).length > 0;
    const suspendsBackups = isReplaced(observed);
    return { keepsSecret: isBackingUp, keepsServer: isBackingUp, suspendsBackups };
  }
  const { kind, step, request } = operation;
  const isWriting = kind === 'rotation' && step === 'write';
  const isReplacing = kind === 'upgrade' && step === 'replace';
  const isRestarting = kind === 'rotation' && step === 'restart';
  return {
    keepsSecret: !isWriting,
    keepsServer: !isReplacing && !isRestarting,
    suspendsBackups: true,
    ...(isWriting ? { rotation: request } : {}),
    ...replicasOf(observed, operation),
  };
}

/** Applied until the Deployment has the former number; afterwards an autoscaler may change the number. */
function replicasOf(
  { objects }: Observed,
  { kind, step, replicas }: Operation,
): Pick<Effects, 'replicas'> {
  if (kind !== 'restore' || replicas === undefined) return {};
  if (step === 'stop' || step === 'swap') return { replicas: 0 };
  const live = objects.find(deployments, managedObjects.controller)?.spec?.replicas;
  return step === 'finish' && live === 0 ? { replicas } : {};
}

/** Returns the number of retained backups; 0: remove none, as while the data is incomplete or missing. */
export function retentionOf(observed: Observed): number {
  const { failedRestore } = recordIn(observed);
  return failedRestore || isReplaced(observed)
    ? 0
    : (observed.accepted.backup.value?.retention ?? 0);
}
