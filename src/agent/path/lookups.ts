import { contains, familyOf, ipOf, plainForm, prefixOf } from '../../api/address.ts';
import type { ApiServer, RequestInterface } from '../../api/job.ts';
import { type KernelSnapshot, type Link, rt } from '../snapshot.ts';
import { Prefixes, rangeOf, textOfNumber } from './prefixes.ts';

/** Route lookup for `ip route get`. */
export interface Query {
  readonly to: string;
  readonly from?: string;
}

/** Configured NIC. */
export interface PathNic {
  readonly entry: RequestInterface;
  readonly link: Link;
  /** The NIC's own routing table. */
  readonly table: number;
}

/** Destination for the node's own packets. */
export type NodePurpose = 'service' | 'endpoint' | 'default gateway';

/** Route lookup from a NIC's address. */
export interface NicLookup {
  readonly to: string;
  readonly from: string;
  readonly nic: PathNic;
}

/** Route lookup for the node's own packets. */
export interface NodeLookup {
  readonly to: string;
  readonly purpose: NodePurpose;
}

/** Addresses for documentation (RFC 5737, RFC 3849): no network uses these. */
const outside = {
  4: ['198.51.100.1', '203.0.113.1', '192.0.2.1'],
  6: ['2001:db8::1'],
} as const;

/** Maximum API server endpoints per lookup and probe. */
const maxEndpoints = 3;
/** Most lookups per run: ten NICs with 64 routes each and several addresses would cost seconds. */
const maxLookups = 2_000;

/**
 * Returns the lookups from each NIC address: towards the gateway, a destination per host route, and a destination
 * covered only by default routes. A NIC without carrier has no lookups: the kernel may ignore dead routes.
 */
export function nicLookups(nics: readonly PathNic[], host: KernelSnapshot): NicLookup[] {
  const free = new FreeDestinations(host);
  const lookups = nics
    .filter(({ link }) => link.up && !link.noCarrier)
    .flatMap((nic) =>
      presentAddresses(nic, host).flatMap((cidr) =>
        destinationsFrom(cidr, nic, free).map((to) => ({ to, from: ipOf(cidr), nic })),
      ),
    );
  return lookups.slice(0, maxLookups);
}

/** Returns the NIC's requested addresses in use, without addresses still being probed (RFC 4862). */
export function presentAddresses({ entry, link }: PathNic, { addresses }: KernelSnapshot) {
  const ready = new Set(
    addresses
      .filter((address) => address.link === link.name && address.probe === undefined)
      .map(({ cidr }) => ipOf(cidr)),
  );
  return entry.addresses.filter((cidr) => ready.has(ipOf(cidr)));
}

function destinationsFrom(cidr: string, nic: PathNic, free: FreeDestinations): string[] {
  const { entry } = nic;
  const family = familyOf(cidr);
  const gateway = gatewayOf(entry, family);
  const near = gateway ?? free.within(cidr);
  const routes = hostRoutes(entry, family);
  const far = routes.filter((to) => prefixOf(to) > 0).map((to) => free.within(to));
  const hasDefault =
    entry.routing === 'pbr' && (gateway !== undefined || routes.some((to) => prefixOf(to) === 0));
  const found = [near, ...far, hasDefault ? free.outside(family) : undefined];
  return [...new Set(found.filter((to) => to !== undefined))];
}

/** Returns the entry's gateway in this family, in the kernel's spelling. */
export function gatewayOf({ gateway, gateway6 }: RequestInterface, family: 4 | 6) {
  if (family === 4) return gateway;
  return gateway6 === undefined ? undefined : plainForm(gateway6);
}

/** Routing mode `isolated` sets no routes. */
function hostRoutes({ routes, routing }: RequestInterface, family: 4 | 6): string[] {
  if (routing === 'isolated') return [];
  return routes.map(({ to }) => to).filter((to) => familyOf(to) === family);
}

/** Destinations without a more specific route in any table: a foreign route may rightly lead elsewhere. */
class FreeDestinations {
  readonly #prefixes: Prefixes;
  readonly #own: ReadonlySet<string>;
  readonly #outside = new Map<4 | 6, string | undefined>();
  readonly #within = new Map<string, string | undefined>();

  constructor({ routes, addresses }: KernelSnapshot) {
    this.#prefixes = new Prefixes(routes);
    this.#own = new Set(addresses.map(({ cidr }) => ipOf(cidr)));
  }

  /** Returns the first or last address in the network; undefined if more specific routes cover both. */
  within(cidr: string): string | undefined {
    if (!this.#within.has(cidr)) this.#within.set(cidr, this.#freeWithin(cidr));
    return this.#within.get(cidr);
  }

  #freeWithin(cidr: string): string | undefined {
    const family = familyOf(cidr);
    const { first, last, prefix } = rangeOf(cidr);
    const inner = last - first > 1n ? [first + 1n, last - 1n] : [first, last];
    return inner
      .map((value) => textOfNumber(value, family))
      .filter((ip) => !this.#own.has(ip))
      .find((ip) => this.#prefixes.covering(ip).every((route) => route.prefix <= prefix));
  }

  /** Returns an address covered only by default routes. */
  outside(family: 4 | 6): string | undefined {
    if (!this.#outside.has(family)) {
      const isFree = (ip: string) =>
        this.#prefixes.covering(ip).every(({ prefix }) => prefix === 0);
      this.#outside.set(family, outside[family].find(isFree));
    }
    return this.#outside.get(family);
  }
}

/**
 * Returns the lookups without a source address: the Service address of the API server, endpoints on other nodes, and
 * the gateways of the node's preferred default routes.
 */
export function nodeLookups(
  apiServer: ApiServer | undefined,
  host: KernelSnapshot,
  nics: readonly Pick<Link, 'name'>[],
): NodeLookup[] {
  const { service, endpoints } = remoteTargets(apiServer, host);
  return [
    ...(service ? [{ to: service.address, purpose: 'service' as const }] : []),
    ...endpoints.map(({ address }) => ({ to: address, purpose: 'endpoint' as const })),
    ...defaultGateways(host, nics).map((to) => ({ to, purpose: 'default gateway' as const })),
  ];
}

/** Returns the API server's addresses on foreign nodes: packets to the node itself leave by no link. */
export function remoteTargets(
  { service, endpoints }: ApiServer = { endpoints: [] },
  { addresses }: Pick<KernelSnapshot, 'addresses'>,
) {
  const own = new Set(addresses.map(({ cidr }) => plainForm(ipOf(cidr))));
  const remote = endpoints.filter(({ address }) => !own.has(plainForm(address)));
  return { service, endpoints: remote.slice(0, maxEndpoints) };
}

/** Returns the gateway of the best default route in main per family, without routes by our NICs. */
function defaultGateways(
  { routes }: KernelSnapshot,
  nics: readonly Pick<Link, 'name'>[],
): string[] {
  const ours = new Set(nics.map(({ name }) => name));
  return ([4, 6] as const).flatMap((family) => {
    const [best] = routes
      .filter(
        (route) =>
          route.family === family &&
          route.to.endsWith('/0') &&
          route.type === rt.unicast &&
          route.table === rt.mainTable &&
          !route.links.some((name) => ours.has(name)),
      )
      .toSorted((a, b) => a.metric - b.metric);
    // A link-local gateway exists on every link: a lookup without a link means nothing.
    return best?.via && !contains('fe80::/10', best.via) ? [best.via] : [];
  });
}
