import { interfaceName } from '../../api/names.ts';
import type { Backend } from './backend.ts';
import { renderProfile, validateProfile } from './keyfile-document.ts';
import { renderLink, validateLink } from './link-file.ts';
import { keyfileDirectory, places, read } from './network-manager.ts';

/** Profiles of NetworkManager in its own format: Enterprise Linux 9 and later, Debian and Ubuntu desktops. */
export const keyfile: Backend = {
  name: 'keyfile',
  places,
  read,
  // NetworkManager has in its memory what it read at the boot, and writes it down nowhere.
  held: () => undefined,
  path,
  render: (nic) => ({
    companions: [renderLink(nic, 0o644)],
    // NetworkManager takes no profile that others can read: it may hold secrets.
    main: { path: path(nic.index), text: renderProfile(nic), mode: 0o600 },
  }),
  validate: ({ path: at, text }, nic) =>
    at.endsWith('.link') ? validateLink(text, nic) : validateProfile(text, nic),
};

function path(index: number): string {
  return `${keyfileDirectory}/9${index}-${interfaceName(index)}.nmconnection`;
}
