import { interfaceName } from '../../api/names.ts';
import type { Backend } from './backend.ts';
import { linkPlaces, readLink, renderLink, validateLink } from './link-file.ts';
import { readNetwork } from './networkd-claims.ts';
import { renderNetwork, validateNetwork } from './networkd-document.ts';

/** Files of systemd-networkd itself: hosts that have it without netplan. */
export const networkd: Backend = {
  name: 'networkd',
  places: [...linkPlaces.map((place) => ({ ...place, suffix: '.network' })), ...linkPlaces],
  read: async (file) => (file.path.endsWith('.link') ? readLink(file) : readNetwork(file)),
  // networkd has in its memory what it read when it started, and writes it down nowhere.
  held: () => undefined,
  path,
  render: (nic) => ({
    companions: [renderLink(nic, 0o644)],
    // networkd gives up its rights before it reads files: what is root's alone it cannot read.
    main: { path: path(nic.index), text: renderNetwork(nic), mode: 0o644 },
  }),
  validate: ({ path: at, text }, nic) =>
    at.endsWith('.link') ? validateLink(text, nic) : validateNetwork(text, nic),
};

function path(index: number): string {
  return `/etc/systemd/network/9${index}-${interfaceName(index)}.network`;
}
