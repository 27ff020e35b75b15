import type { ConfigFile, HostFile } from '../snapshot.ts';
import type { Place } from './backend.ts';
import { ifcfgDirectory, readIfcfg } from './ifcfg-claims.ts';
import { readProfile } from './keyfile-claims.ts';
import { linkPlaces, readLink } from './link-file.ts';
import { readNetwork } from './networkd-claims.ts';

export const keyfileDirectory = '/etc/NetworkManager/system-connections';

const networkdDirectory = '/etc/systemd/network';

/**
 * Where NetworkManager takes profiles from, of either kind on the same host, and udev names. Only in its first directory
 * does it take profiles of any file name; nor has an ifcfg file a suffix.
 */
export const places: readonly Place[] = [
  { directory: keyfileDirectory, suffix: '' },
  ...['/run', '/usr/lib'].map((root) => ({
    directory: `${root}/NetworkManager/system-connections`,
    suffix: '.nmconnection',
  })),
  { directory: ifcfgDirectory, suffix: '' },
  ...linkPlaces,
  // What this agent wrote while networkd had the host; NetworkManager reads none of it.
  { directory: networkdDirectory, suffix: '.network' },
];

/**
 * Names that NetworkManager passes by: of editors, of certificates, of marks that a profile is deleted, and of files that are
 * being written, which have six letters or digits at their end (nms-keyfile-utils.c).
 */
const passedBy = /(~|\.(swpx?|pem|der|[\da-zA-Z]{6}))$/;

/** What a file of these places is about, and whether it is one of ours, of whichever kind. */
export async function read(file: HostFile): Promise<ConfigFile> {
  if (file.path.endsWith('.link')) return readLink(file);
  if (file.path.endsWith('.network')) return ofOursAlone(readNetwork(file));
  if (file.path.startsWith(`${ifcfgDirectory}/`)) return readIfcfg(file);
  return passedBy.test(file.path) ? { ...file, macs: [] } : readProfile(file);
}

function ofOursAlone({ path, text, mode, own }: ConfigFile): ConfigFile {
  return { path, text, mode, ...(own ? { own, macs: [own.mac] } : { macs: [] }) };
}
