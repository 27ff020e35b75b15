import type { JobAction } from '../../api/job.ts';
import { pauseMessage, pauseOf } from '../../api/pause.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { recordOf } from './applied.ts';
import type { Failure } from './runner.ts';

/** Agent actions permitted on an object's node. */
export type Permission =
  | { readonly kind: 'changes' }
  | ({ readonly kind: 'checks' | 'nothing' } & Failure);

const changes: Permission = { kind: 'changes' };

/**
 * Decides which agent actions an object permits on its node. In mode Observe the annotation `paused` has no effect:
 * Viola sets the annotation for controllers without this mode.
 */
export function permissionOf(config: NodeConfig): Permission {
  const observes = config.spec?.mode === 'Observe';
  if (config.metadata.deletionTimestamp !== undefined) return duringDeletion(config, observes);
  if (observes) return observe('checks', 'spec.mode is Observe; agents only check the node');
  const pause = pauseOf(config);
  if (!pause.isPaused) return changes;
  const message = pauseMessage(pause, 'no agent is started on the node');
  return { kind: 'nothing', reason: 'Paused', message };
}

/** Deletion ends a pause, because the user requests the clean-up. An observed node has NICs only by earlier runs. */
function duringDeletion(config: NodeConfig, observes: boolean): Permission {
  if (!observes || recordOf(config)) return changes;
  return observe('nothing', 'spec.mode is Observe, and no agent has changed the node');
}

function observe(kind: 'checks' | 'nothing', message: string): Permission {
  return { kind, reason: 'Observed', message };
}

/** Returns why no agent may start with this action; undefined: permitted. */
export function prohibitionOf(config: NodeConfig, action: JobAction): Failure | undefined {
  const permission = permissionOf(config);
  if (permission.kind === 'changes') return undefined;
  if (permission.kind === 'checks' && action === 'check') return undefined;
  return { reason: permission.reason, message: permission.message };
}

/** True if agents only check the object's node. */
export function isObserved(config: NodeConfig): boolean {
  return permissionOf(config).kind === 'checks';
}
