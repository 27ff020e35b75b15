import { rfc3339 } from '../../../api/condition.ts';
import type { TriggerPolicy } from '../../../triggers/policy.ts';

/**
 * Returns why a new or edited OpenstackConfig waits for its first sync. `isCallable`: the trigger endpoint has callers.
 */
export function waitMessage(
  { mode }: Pick<TriggerPolicy, 'mode'>,
  due: Date | undefined,
  isCallable: boolean,
): string {
  if (due) return `the first sync is due at ${rfc3339(due)} (mode ${mode}); ${annotation}`;
  if (mode !== 'webhook') return `mode ${mode} starts no sync by itself; ${annotation}`;
  return isCallable
    ? `waits for a call of the trigger endpoint (mode webhook); ${annotation}`
    : `the trigger endpoint has no callers (mode webhook): set --api-tokens-file or --trigger-hmac-key-file; ${annotation}`;
}

const annotation = 'a new value of the annotation multinic.io/reconcile-at starts it at once';
