import { basename } from 'node:path';
import type { AdoptionRules, Place } from '../planning/backend.ts';
import type { ConfigFile, HostFile } from '../snapshot.ts';
import { ifcfgDirectory, readIfcfg } from './ifcfg-claims.ts';
import { editedLines, withEffect, withoutEffect } from './ifcfg-edit.ts';
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

/** Rules for both profile formats: hosts with ifcfg files also have keyfiles. */
export const adoptionRules: Omit<AdoptionRules, 'path'> = {
  // A profile with the same or a higher priority than ours, or an earlier `.link` file.
  precedes: ({ path, stanzas = [] }) =>
    path.endsWith('.link')
      ? basename(path) < adoptedPlace
      : stanzas.some(({ priority = -1 }) => priority >= autoconnectPriority - 1),
  edit: {
    apply: ({ path, text }) => (isIfcfg(path) ? withoutEffect(text) : text),
    undo: ({ path, text }) => (isIfcfg(path) ? withEffect(text) : text),
    lines: editedLines,
  },
};

function isIfcfg(path: string): boolean {
  return path.startsWith(`${ifcfgDirectory}/ifcfg-`);
}
