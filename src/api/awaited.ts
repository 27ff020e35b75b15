import { violaCodes } from './message-codes.ts';
import type { Reason } from './reasons.ts';

/**
 * Events for which commands in next steps wait. `attempt`: the operator tries a sync. `check`: an agent checks a node.
 * `plan`: a sync has planned the current generation.
 */
export type Awaited = 'attempt' | 'check' | 'plan';

/** Event by command; a command without an entry waits for nothing. */
export const awaitedBy: Readonly<Record<string, Awaited>> = {
  sync: 'attempt',
  'sync --node': 'check',
  diff: 'check',
  'allow-removals': 'plan',
};

/** Reasons whose cause prevents the event until a user or another part removes the cause. */
export const preventedBy: Readonly<Record<Awaited, readonly Reason[]>> = {
  attempt: ['Paused'],
  check: [
    'Paused',
    'Deleting',
    'ConfigError',
    'PolicyDenied',
    'ClusterIdentityUnread',
    'ViolaPostError',
    ...violaCodes,
    'NodeNotFound',
    'NodeNotReady',
    'DuplicateSystemUUID',
    'DuplicateInstanceId',
    'JobRefused',
    'JobFailed',
    'NotStarted',
  ],
  plan: [
    'Paused',
    'NotSyncedYet',
    'WaitingForTrigger',
    'ContrabassError',
    'KeystoneError',
    'NeutronEndpointError',
    'NeutronPortError',
    'NeutronSubnetError',
    'ProviderUnavailable',
    'ViolaPostError',
    ...violaCodes,
  ],
};

/** Returns the event for which `kubectl multinic …` waits; undefined: none. */
export function awaitedIn(words: readonly string[]): Awaited | undefined {
  const [program, plugin, command = '', option = ''] = words;
  if (program !== 'kubectl' || plugin !== 'multinic') return undefined;
  return awaitedBy[`${command} ${option}`] ?? awaitedBy[command];
}
