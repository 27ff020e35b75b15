import { namespaces, operatorLease } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { leases } from '../../kube/core-resources.ts';
import { isForbidden } from '../../kube/errors.ts';
import { Unread } from './unread.ts';

/** Where the operator runs. */
export interface OperatorHome {
  readonly namespace: string;
  /** Pod that holds the Lease; undefined: no replica leads. */
  readonly leader: string | undefined;
}

/** Namespaces of an installation without and with lifecycle. */
export const usualHomes = ['multinic-operator-system', namespaces.system] as const;

/** Finds the operator's Lease. Throws Unread if no namespace has one that the user may read. */
export async function findOperator(
  client: Pick<KubeClient, 'find'>,
  chosen: string | undefined,
  now: Date,
  signal: AbortSignal,
): Promise<OperatorHome> {
  const candidates = chosen === undefined ? usualHomes : [chosen];
  let denied: unknown;
  for (const namespace of candidates) {
    try {
      const lease = await client.find(leases, { namespace, name: operatorLease }, { signal });
      if (lease !== undefined) return { namespace, leader: leaderOf(lease.spec ?? {}, now) };
    } catch (error) {
      if (!isForbidden(error)) throw error;
      denied ??= error;
    }
  }
  if (denied !== undefined) throw denied;
  throw new Unread(
    filled(accessTexts.noOperator, {
      lease: operatorLease,
      namespaces: { en: candidates.join(' or '), ko: candidates.join(', ') },
    }),
    accessTexts.giveOperatorNamespace,
  );
}

interface LeaseTimes {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly renewTime?: string;
}

/** Returns the holder, also for some seconds after expiry: clocks differ between machines. */
function leaderOf(
  { holderIdentity = '', leaseDurationSeconds = 15, renewTime = '' }: LeaseTimes,
  now: Date,
): string | undefined {
  const age = (now.getTime() - Date.parse(renewTime)) / 1_000;
  if (holderIdentity === '' || age > leaseDurationSeconds + 120) return undefined;
  return holderIdentity.split('_')[0];
}
