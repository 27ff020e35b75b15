import { nicOf } from '../identity.ts';
import { rt, type Snapshot } from '../snapshot.ts';

/**
 * Describes state the node itself lost between two snapshots: a default route, or an address on a link with a default
 * route. NICs with these MACs are left out. Additions are no loss.
 */
export function lostByNode(
  before: Vital,
  after: Vital,
  macs: ReadonlySet<string>,
): string | undefined {
  const still = new Set(vital(after, macs));
  return vital(before, macs).find((item) => !still.has(item));
}

type Vital = Pick<Snapshot, 'links' | 'addresses' | 'routes'>;

function vital({ links, addresses, routes }: Vital, macs: ReadonlySet<string>): string[] {
  const nics = [...macs].flatMap((mac) => nicOf({ links }, mac).links);
  const ours = new Set(nics.map(({ name }) => name));
  const defaults = routes.filter(
    ({ to, type, table, links: by }) =>
      to.endsWith('/0') &&
      type === rt.unicast &&
      table === rt.mainTable &&
      !by.some((name) => ours.has(name)),
  );
  const carriers = new Set(defaults.flatMap((route) => route.links));
  return [
    ...defaults.map(
      ({ to, via, links: by }) => `route ${to}${via ? ` via ${via}` : ''} dev ${by.join(',')}`,
    ),
    ...addresses
      .filter(({ link, scope }) => carriers.has(link) && scope === rt.scopeGlobal)
      .map(({ cidr, link }) => `address ${cidr} of ${link}`),
  ];
}
