import { basename } from 'node:path';
import { interfaceName } from '../../api/names.ts';
import type { Backend } from '../planning/backend.ts';
import { adoptedPlace, linkPlaces, readLink, renderLink, validateLink } from './link-file.ts';
import { readNetwork } from './networkd-claims.ts';
import { renderNetwork, validateNetwork } from './networkd-document.ts';

/** Files for systemd-networkd itself, on hosts without netplan. */
export const networkd: Backend = {
  name: 'networkd',
  places: [...linkPlaces.map((place) => ({ ...place, suffix: '.network' })), ...linkPlaces],
  read: async (file) => (file.path.endsWith('.link') ? readLink(file) : readNetwork(file)),
  // networkd keeps configuration read at its start only in memory.
  held: () => undefined,
  path,
  render: (nic) => ({
    companions: [renderLink(nic, 0o644)],
    // networkd drops privileges before reading files, and cannot read root-only files.
    main: {
      path: nic.adopted ? adoptedPath(nic.index) : path(nic.index),
      text: renderNetwork(nic),
      mode: 0o644,
    },
  }),
  adoption: { path: adoptedPath, precedes: ({ path: other }, own) => basename(other) < own },
  validate: ({ path: at, text }, nic) =>
    at.endsWith('.link') ? validateLink(text, nic) : validateNetwork(text, nic),
};

function path(index: number): string {
  return `/etc/systemd/network/9${index}-${interfaceName(index)}.network`;
}

function adoptedPath(index: number): string {
  return `/etc/systemd/network/${adoptedPlace}-${interfaceName(index)}.network`;
}
