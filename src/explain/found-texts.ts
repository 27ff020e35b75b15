import type { NicView } from '../api/read-http.ts';
import { existingNicsTexts } from '../api/texts/existing-nics.ts';
import { filled, type Wording } from '../api/texts/text.ts';
import { adoptionText } from './adoption.ts';

/** Returns a text per foreign setting on the NIC; empty: none found. */
export function foundTexts({ found }: Pick<NicView, 'found'>): Wording[] {
  if (found === undefined) return [];
  const adoption = adoptionText({ found });
  return [
    ...foundInFile(found),
    ...foundInKernel(found),
    ...(adoption === undefined ? [] : [adoption]),
  ];
}

type Found = NonNullable<NicView['found']>;

/** Returns the foreign file for the next boot. */
export function foundInFile({ file, section }: Found): Wording[] {
  if (file === undefined) return [];
  const place = section === undefined ? '' : `, ${section}`;
  return [filled(existingNicsTexts.foundFile, { file, section: place })];
}

/** Returns lease, addresses, routes and name servers from foreign programs. */
export function foundInKernel({
  dhcp = false,
  addresses = [],
  routes = [],
  nameServers = [],
}: Found): Wording[] {
  const { foundLease, foundAddress, foundRoute, foundNameServer } = existingNicsTexts;
  return [
    ...(dhcp ? [foundLease] : []),
    ...addresses.map((address) => filled(foundAddress, { address })),
    ...routes.map((route) => filled(foundRoute, { route })),
    ...nameServers.map((nameServer) => filled(foundNameServer, { nameServer })),
  ];
}
