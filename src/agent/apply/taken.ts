import { onlyLink } from '../planning/candidates.ts';
import type { KnownNic } from '../planning/nic-state.ts';
import { type Check, firstRefusal, type Refusal, type TouchedNic } from '../planning/refusals.ts';
import type { KernelSnapshot } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import type { Context } from './context.ts';

/** Why the NIC must not be touched any more, by what a plan refuses too: others may have come to use it since that was made. */
export function takenBy(
  { mac, belongings }: KnownNic,
  seen: KernelSnapshot,
  checks: readonly Check<TouchedNic>[],
  { protectedAddresses }: Context,
  records: readonly NicRecord[] = [],
): Refusal | undefined {
  const host = { ...seen, files: [], held: [] };
  const link = onlyLink(host, mac);
  if ('reason' in link) return link.reason === 'WaitingForNIC' ? undefined : link;
  const site = { host, protectedAddresses, records, accepted: [] };
  return firstRefusal(checks, { link, owned: belongings }, site);
}
