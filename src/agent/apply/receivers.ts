import { linkOf } from '../identity.ts';
import type { UnicastFilter } from '../observe/fdb.ts';
import type { PlanInput } from '../planning/candidates.ts';
import { unlistedNics } from '../planning/obsolete.ts';

/** Returns unicast filters for NICs a plan is going to release, by MAC: other NICs need none. */
export async function receiversOf(
  input: Pick<PlanInput, 'request' | 'state' | 'host'>,
  unicastFilter: UnicastFilter,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const links = unlistedNics(input).released.flatMap(({ nic }) => {
    const link = nic.rulesOnly ? undefined : linkOf(input.host, nic.mac);
    return link ? [link] : [];
  });
  const filters = links.map(async ({ mac, name }) => [mac, await unicastFilter(name)] as const);
  return new Map(await Promise.all(filters));
}
