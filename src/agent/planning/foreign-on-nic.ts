import { ipOf, networkOf } from '../../api/address.ts';
import { linkOf } from '../identity.ts';
import { isKernelMade, type KernelSnapshot, type Route, rt } from '../snapshot.ts';
import { isLinkLocal, type RecordedNic } from './nic-state.ts';
import type { Operation } from './operation.ts';
import { isOwnRoute } from './ownership.ts';

/** Foreign state on a NIC's link with attributes the agent can set again. */
export type ForeignOnNic = Pick<KernelSnapshot, 'addresses' | 'routes' | 'neighbours'>;

/**
 * Returns foreign state at risk from the NIC's change: a link going through "down" loses routes, and a link below
 * the IPv6 minimum MTU loses IPv6 addresses. Expiring addresses are left out, because their DHCP client restores them.
 */
export function foreignOnNic(
  { mac, belongings, rulesOnly }: RecordedNic,
  kernel: KernelSnapshot,
): ForeignOnNic {
  // A rules-only change risks no foreign state.
  const name = rulesOnly ? undefined : linkOf(kernel, mac)?.name;
  const addresses = kernel.addresses.filter(({ link }) => link === name);
  const connected = new Set(['fe80::/64', ...addresses.map(({ cidr }) => networkOf(cidr))]);
  return {
    addresses: addresses.filter((address) => {
      const { cidr, opaque, temporary, scope } = address;
      const isOwn = isLinkLocal(address) || belongings.ips.includes(ipOf(cidr));
      return !isOwn && !opaque && !temporary && scope === rt.scopeGlobal;
    }),
    routes: kernel.routes.filter((route) => {
      const { to, table, links } = route;
      const isConnected = table === rt.mainTable && isKernelMade(route) && connected.has(to);
      const isLasting = !isTransient(route) && !isConnected && !isOwnRoute(route, belongings);
      return links[0] === name && isLasting && isRestorable(route);
    }),
    neighbours: kernel.neighbours.filter(({ link, opaque }) => link === name && !opaque),
  };
}

/** True for routes in the kernel's local table, which follows addresses, and for ICMP redirects, which expire. */
function isTransient({ table, protocol }: Route): boolean {
  return table === rt.localTable || protocol === protocolRedirect;
}

const protocolRedirect = 1;

function isRestorable({ type, links, opaque }: Route): boolean {
  return type === rt.unicast && links.length === 1 && !opaque;
}

/**
 * Adds routes recorded on link `name` before a crash and missing in `kernel`. A route with an occupied slot is left
 * out: foreign software replaced the route.
 */
export function withRoutesBefore(
  now: ForeignOnNic,
  recorded: { readonly name: string | undefined; readonly routes: readonly Route[] },
  kernel: KernelSnapshot,
): ForeignOnNic {
  const occupied = new Set(kernel.routes.map(slotOf));
  const missing = recorded.routes.filter(
    (route) =>
      route.links[0] === recorded.name && isRestorable(route) && !occupied.has(slotOf(route)),
  );
  return { ...now, routes: [...now.routes, ...missing] };
}

/** Returns the key for a kernel slot with room for one route. */
function slotOf({ to, table, metric }: Route): string {
  return `${to} ${table} ${metric}`;
}

/** Returns operations for state missing on link `dev` in `kernel`: addresses first, because routes depend on them. */
export function restoringOperations(
  { addresses, routes, neighbours }: ForeignOnNic,
  kernel: KernelSnapshot,
  dev: string,
): Operation[] {
  const there = new Set([
    ...kernel.addresses.map(({ link, cidr }) => `${link} ${cidr}`),
    ...kernel.routes.map((route) => `${route.links.join(' ')} ${hopOf(route)}`),
    ...kernel.neighbours.map(({ link, ip, mac }) => `${link} ${ip} ${mac}`),
  ]);
  const isMissing = (words: string) => !there.has(`${dev} ${words}`);
  return [
    ...addresses
      .filter(({ cidr }) => isMissing(cidr))
      .map(({ cidr, broadcast, noPrefixRoute }): Operation => {
        const address = { cidr, ...(broadcast ? { broadcast } : {}), noPrefixRoute };
        return { kind: 'address.add', dev, address };
      }),
    ...gatewaysLast(routes.filter((route) => isMissing(hopOf(route)))).map((route): Operation => {
      const { to, via, src, table, protocol, scope, metric } = route;
      const hop = { ...(via ? { via } : {}), ...(src ? { src } : {}) };
      const same = { to, ...hop, table, protocol, scope, metric };
      return { kind: 'route.set', dev, route: same };
    }),
    ...neighbours
      .filter(({ ip, mac }) => isMissing(`${ip} ${mac}`))
      .map((neighbour): Operation => ({ kind: 'neighbour.set', dev, neighbour })),
  ];
}

function hopOf(route: Route): string {
  return `${slotOf(route)} via ${route.via ?? ''}`;
}

/** The kernel accepts a gateway route only while the gateway is reachable. */
function gatewaysLast(routes: readonly Route[]): Route[] {
  return [...routes.filter(({ via }) => !via), ...routes.filter(({ via }) => via)];
}
