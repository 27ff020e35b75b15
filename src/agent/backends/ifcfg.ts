import { interfaceName } from '../../api/names.ts';
import type { Backend, RenderedFile } from '../planning/backend.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { ifcfgDirectory, interim } from './ifcfg-claims.ts';
import { renderIfcfg, renderRoutes, validateIfcfg, validateRoutes } from './ifcfg-document.ts';
import { renderLink, validateLink } from './link-file.ts';
import { adoptionRules, places, read } from './network-manager.ts';

/** network-scripts files, read by NetworkManager on Enterprise Linux 8 and 9. */
export const ifcfg: Backend = {
  name: 'ifcfg',
  places,
  read,
  // NetworkManager keeps configuration read at boot only in memory.
  held: () => undefined,
  path,
  render: (nic) => ({
    companions: [renderLink(nic, 0o600), ...routeFiles(nic)],
    main: { path: path(nic.index), text: renderIfcfg(nic), mode: 0o600 },
    interim: [
      ...routeFiles(nic).map((file) => ({ ...file, path: file.path + interim })),
      { path: path(nic.index) + interim, text: renderIfcfg(nic, interim), mode: 0o600 },
    ],
  }),
  adoption: { path, ...adoptionRules },
  validate({ path: at, text }, nic) {
    const variant = at.endsWith(interim) ? interim : '';
    if (at.endsWith('.link')) validateLink(text, nic);
    else if (at === routesPath(nic, 4) + variant) validateRoutes(text, nic, 4);
    else if (at === routesPath(nic, 6) + variant) validateRoutes(text, nic, 6);
    else validateIfcfg(text, nic, variant);
  },
};

function path(index: number): string {
  return `${ifcfgDirectory}/ifcfg-${interfaceName(index)}`;
}

function routesPath({ name }: DesiredNic, family: 4 | 6): string {
  return `${ifcfgDirectory}/${family === 4 ? 'route' : 'route6'}-${name}`;
}

function routeFiles(nic: DesiredNic): RenderedFile[] {
  return ([4, 6] as const).flatMap((family) => {
    const text = renderRoutes(nic, family);
    return text === undefined ? [] : [{ path: routesPath(nic, family), text, mode: 0o600 }];
  });
}
