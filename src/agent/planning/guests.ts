import { linkOf } from '../identity.ts';
import type { UnicastOf } from '../observe/unicast.ts';
import type { PlanInput } from './candidates.ts';
import { obsolete } from './obsolete.ts';

/**
 * Returns the input with what sits in other network namespaces on NICs that the request removes. Only a removal cuts that off,
 * and asking takes a process for each NIC: runs that remove none do not ask.
 */
export async function withGuests(input: PlanInput, unicastOf: UnicastOf): Promise<PlanInput> {
  const { host } = input;
  const links = obsolete(input).flatMap(({ nic }) =>
    nic.rulesOnly ? [] : (linkOf(host, nic.mac) ?? []),
  );
  if (links.length === 0) return input;
  const guests = await Promise.all(
    links.map(async ({ name, mac }) => {
      const others = (await unicastOf(name)).filter((each) => each !== mac);
      return [name, others] as const;
    }),
  );
  return { ...input, host: { ...host, guests: new Map(guests) } };
}
