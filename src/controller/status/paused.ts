import type { ConditionUpdate } from '../../api/condition.ts';
import { permissionOf } from '../jobs/permission.ts';
import type { NodeConfig } from '../objects/stores.ts';

/** Returns the condition Paused for a paused object. */
export function pausedCondition(config: NodeConfig): ConditionUpdate[] {
  const permission = permissionOf(config);
  if (permission.kind !== 'nothing' || permission.reason !== 'Paused') return [];
  const { reason, message } = permission;
  return [{ type: 'Paused', status: 'True', reason, message }];
}
