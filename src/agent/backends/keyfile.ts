import { interfaceName } from '../../api/names.ts';
import type { Backend } from '../planning/backend.ts';
import { renderProfile, validateProfile } from './keyfile-document.ts';
import { renderLink, validateLink } from './link-file.ts';
import { adoptionRules, keyfileDirectory, places, read } from './network-manager.ts';

/** NetworkManager profiles in native format: Enterprise Linux 9 and later, Debian and Ubuntu desktops. */
export const keyfile: Backend = {
  name: 'keyfile',
  places,
  read,
  // NetworkManager keeps configuration read at boot only in memory.
  held: () => undefined,
  path,
  render: (nic) => ({
    companions: [renderLink(nic, 0o644)],
    // NetworkManager rejects world-readable profiles: they may hold secrets.
    main: { path: path(nic.index), text: renderProfile(nic), mode: 0o600 },
  }),
  adoption: { path, ...adoptionRules },
  validate: ({ path: at, text }, nic) =>
    at.endsWith('.link') ? validateLink(text, nic) : validateProfile(text, nic),
};

function path(index: number): string {
  return `${keyfileDirectory}/9${index}-${interfaceName(index)}.nmconnection`;
}
