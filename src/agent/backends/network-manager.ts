import { basename } from 'node:path';
import type { Place } from '../planning/backend.ts';
import type { ConfigFile, HostFile } from '../snapshot.ts';
import { ifcfgDirectory, readIfcfg } from './ifcfg-claims.ts';
import { readProfile } from './keyfile-claims.ts';
import { adoptedPlace, linkPlaces, readLink } from './link-file.ts';
import { readNetwork } from './networkd-claims.ts';
import { autoconnectPriority } from './profile.ts';

export const keyfileDirectory = '/etc/NetworkManager/system-connections';

const networkdDirectory = '/etc/systemd/network';

/**
 * Folders NetworkManager reads profiles from, in both formats, and udev's `.link` folders. Only the first folder
 * accepts profiles with any file name; ifcfg files have no suffix either.
 */
export const places: readonly Place[] = [
  { directory: keyfileDirectory, suffix: '' },
  ...['/run', '/usr/lib'].map((root) => ({
    directory: `${root}/NetworkManager/system-connections`,
    suffix: '.nmconnection',
  })),
  { directory: ifcfgDirectory, suffix: '' },
  ...linkPlaces,
  // Files this agent wrote while networkd managed the host; NetworkManager ignores them.
  { directory: networkdDirectory, suffix: '.network' },
];

/**
 * File names NetworkManager ignores: editor files, certificates, deletion marks, and temporary files with six letters
 * or digits at the end (nms-keyfile-utils.c).
 */
const passedBy = /(~|\.(swpx?|pem|der|[\da-zA-Z]{6}))$/;

/** Parses a file in these places, in any format: which NICs it configures, and whether it is managed. */
export async function read(file: HostFile): Promise<ConfigFile> {
  if (file.path.endsWith('.link')) return readLink(file);
  if (file.path.endsWith('.network')) return onlyIfManaged(readNetwork(file));
  if (file.path.startsWith(`${ifcfgDirectory}/`)) return readIfcfg(file);
  return passedBy.test(file.path) ? { ...file, macs: [] } : readProfile(file);
}

function onlyIfManaged({ path, text, mode, own }: ConfigFile): ConfigFile {
  return { path, text, mode, ...(own ? { own, macs: [own.mac] } : { macs: [] }) };
}

/**
 * True if NetworkManager or udev prefers the foreign file to the file of an adopted NIC: a profile with the same or a
 * higher priority than ours, in either format, or an earlier `.link` file.
 */
export function precedesProfile({ path, stanzas = [] }: ConfigFile): boolean {
  if (path.endsWith('.link')) return basename(path) < adoptedPlace;
  return stanzas.some(({ priority = -1 }) => priority >= autoconnectPriority - 1);
}
