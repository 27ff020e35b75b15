import type { JobRequest } from '../../api/job.ts';
import { coded } from '../../api/nic-codes.ts';
import { nicOf } from '../identity.ts';
import type { Snapshot } from '../snapshot.ts';
import { type Refusal, refusal } from './refusals.ts';

/** Oldest protocol that names NICs for removal; with an older protocol every unlisted NIC may leave. */
const namingProtocol = 4;

/**
 * Returns why a NIC must stay on the host; undefined if the request permits its removal. Apply, clean-up, check and dry
 * run use this function, and no other code permits a removal.
 */
export function removalRefusal(
  mac: string,
  { protocol, mayRemove = [], mayRemoveIfGone = [] }: JobRequest,
  host: Pick<Snapshot, 'links'>,
): Refusal | undefined {
  if (protocol < namingProtocol || mayRemove.includes(mac)) return undefined;
  if (!mayRemoveIfGone.includes(mac)) {
    return refusal(
      'RemovalHeld',
      'not requested, and not named for removal',
      coded('NotNamed', {}),
    );
  }
  const [link, twin] = nicOf(host, mac).links;
  if (!link) return undefined;
  const present = twin
    ? `links ${link.name} and ${twin.name} are still there`
    : `link ${link.name} is still there`;
  const condition = 'removal is permitted only once no link has this MAC';
  return refusal(
    'RemovalHeld',
    `${present}; ${condition}`,
    coded('LinkPresent', { link: link.name }),
  );
}
