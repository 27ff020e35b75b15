import type { NicView } from '../../api/read-http.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { filled, type Language, type Wording } from '../../api/texts/text.ts';
import { adoptionText } from '../../explain/adoption.ts';

/** Returns a line per setting that other programs gave to the NIC; empty: none found. */
export function foundLines({ found }: Pick<NicView, 'found'>, lang: Language): string[] {
  if (found === undefined) return [];
  const { file, section, dhcp = false, addresses = [], routes = [], nameServers = [] } = found;
  const { foundFile, foundLease, foundAddress, foundRoute, foundNameServer } = existingNicsTexts;
  const adoption = adoptionText({ found });
  const place = section === undefined ? '' : `, ${section}`;
  const texts: Wording[] = [
    ...(file === undefined ? [] : [filled(foundFile, { file, section: place })]),
    ...(dhcp ? [foundLease] : []),
    ...addresses.map((address) => filled(foundAddress, { address })),
    ...routes.map((route) => filled(foundRoute, { route })),
    ...nameServers.map((nameServer) => filled(foundNameServer, { nameServer })),
    ...(adoption === undefined ? [] : [adoption]),
  ];
  return texts.map((text) => `  - ${text[lang]}`);
}
