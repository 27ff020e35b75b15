import { ipOf } from '../../api/address.ts';
import type { FoundConfiguration } from '../../api/found-configuration.ts';
import type { JobRequest, NicResult, RequestInterface } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import { linkOf } from '../identity.ts';
import { isDefault } from '../own-link.ts';
import { shorten } from '../shorten.ts';
import { isKernelMade, type Link, type Route, rt, type Snapshot } from '../snapshot.ts';
import type { AgentState, NicRecord } from '../state.ts';
import { adoptableNic } from './adoption.ts';
import type { Backend } from './backend.ts';
import {
  addressClaim,
  type Claim,
  claimOn,
  type NamedNic,
  namesOf,
  patternClaim,
  unreadClaim,
} from './claim.ts';
import { isLinkLocal } from './nic-state.ts';
import { type Belongings, isOwnRoute, ownedBy, recordOf } from './ownership.ts';
import { leasing } from './refusals.ts';
import { type Bus, managerStep } from './takeover.ts';

/** A check's host, request and state. */
export interface Findable {
  readonly request: JobRequest;
  readonly state: AgentState;
  readonly host: Snapshot;
  readonly backend: Pick<Backend, 'adoption'>;
  readonly bus: Bus;
}

/** Adds configuration by other programs to the results for requested NICs. */
export function withFound(nics: readonly NicResult[], site: Findable): NicResult[] {
  const entries = new Map(site.request.interfaces.map((entry) => [entry.mac, entry]));
  return nics.map((nic) => {
    const entry = entries.get(nic.mac);
    const found = entry && foundOn(entry, nic.index, site);
    return found ? { ...nic, found } : nic;
  });
}

function foundOn(
  entry: RequestInterface,
  index: number,
  site: Findable,
): FoundConfiguration | undefined {
  const { state, host } = site;
  const link = linkOf(host, entry.mac);
  const record = recordOf(entry.mac, entry, state, host);
  const names = namesOf(link, record, interfaceName(index), host);
  const nic = { mac: entry.mac, names, adopted: record?.adopted };
  const isManaged = record !== undefined;
  const claim = addressClaim(nic, isManaged, host) ?? otherClaim(nic, isManaged, host);
  const owned = ownedBy(entry.mac, record, host);
  const { leasedLink, addresses, routes } = kernelState(entry, link, owned, host);
  const isLeased = leasedLink !== undefined;
  // CNI routes on a managed NIC come and go with Pods.
  if (isManaged && !claim && !isLeased) return undefined;
  const found = {
    ...fileOf(claim),
    ...dhcpOf(claim, isLeased),
    ...listOf('addresses', addresses, 8),
    ...listOf('routes', routes, 8),
    ...listOf('nameServers', claim?.stanza?.nameServers ?? leaseServersOn(leasedLink, host), 4),
    ...adoptionOf({ entry, link, record, owned, index }, site),
  };
  return Object.keys(found).length > 0 ? found : undefined;
}

interface FoundNic {
  readonly entry: RequestInterface;
  readonly link: Link | undefined;
  readonly record: NicRecord | undefined;
  readonly owned: Belongings;
  readonly index: number;
}

/** Returns the effect of consent on the NIC's configuration; empty without foreign configuration. */
function adoptionOf(
  { entry: { mac, addresses }, link, record, owned, index }: FoundNic,
  { request: { protectedAddresses, interfaces }, state, host, backend, bus }: Findable,
): Pick<FoundConfiguration, 'adoption'> {
  if (!link) return {};
  const name = interfaceName(index);
  const belongings = { ...owned, ips: [...owned.ips, ...addresses.map(ipOf)] };
  const nic = { link, owned, belongings, desired: { mac, name, index } };
  const site = { host, protectedAddresses, backend, records: state.nics, requested: interfaces };
  const adoptable = adoptableNic({ ...nic, ...(record ? { record } : {}) }, site);
  if (!adoptable) return {};
  if ('objection' in adoptable) return { adoption: adoptable.objection };
  const step = managerStep(link, { name }, host, bus);
  return { adoption: step && 'atBoot' in step ? 'AtBoot' : 'Now' };
}

function leaseServersOn(index: number | undefined, { managedLinks }: Snapshot): readonly string[] {
  return (index !== undefined && managedLinks?.get(index)?.nameServers) || [];
}

function dhcpOf(claim: Claim | undefined, isLeased: boolean): Pick<FoundConfiguration, 'dhcp'> {
  const dhcp = isLeased || claim?.stanza?.dhcp;
  return dhcp === undefined || (!dhcp && !claim) ? {} : { dhcp };
}

/** Returns a `.link` file about the NIC; for an unmanaged NIC also an unreadable file. */
function otherClaim(nic: NamedNic, isManaged: boolean, host: Snapshot): Claim | undefined {
  return (
    claimOn(nic, host) ?? (isManaged ? undefined : (patternClaim(nic, host) ?? unreadClaim(host)))
  );
}

function fileOf(claim: Claim | undefined): Pick<FoundConfiguration, 'file' | 'section'> {
  if (!claim) return {};
  const { file, stanza } = claim;
  const section = stanza ? { section: shorten(stanza.section, 64) } : {};
  return { file: shorten(file.path, 128), ...section };
}

function listOf<K extends string>(
  key: K,
  values: readonly string[],
  room: number,
): Partial<Record<K, string[]>> {
  const distinct = [...new Set(values)].slice(0, room);
  return distinct.length > 0 ? ({ [key]: distinct } as Record<K, string[]>) : {};
}

/** Foreign state on a link. */
interface KernelState {
  /** Index of a leased link. */
  readonly leasedLink?: number;
  readonly addresses: readonly string[];
  readonly routes: readonly string[];
}

/** Returns foreign state on the link; a requested address counts only as leased. */
function kernelState(
  entry: RequestInterface,
  link: Link | undefined,
  owned: Belongings,
  { addresses, routes }: Snapshot,
): KernelState {
  if (!link) return { addresses: [], routes: [] };
  const foreign = addresses.filter(
    (address) =>
      address.link === link.name &&
      !isLinkLocal(address) &&
      !owned.ips.includes(ipOf(address.cidr)),
  );
  const through = routes.filter(
    (route) =>
      route.links.includes(link.name) &&
      route.table !== rt.localTable &&
      !isKernelMade(route) &&
      !isOwnRoute(route, owned) &&
      !isRequested(route, entry),
  );
  const requested = new Set(entry.addresses.map(ipOf));
  const isLeased =
    foreign.some(({ temporary }) => temporary) ||
    through.some(({ protocol }) => leasing.has(protocol));
  return {
    ...(isLeased ? { leasedLink: link.index } : {}),
    addresses: foreign.map(({ cidr }) => cidr).filter((cidr) => !requested.has(ipOf(cidr))),
    // A default route matters most, and the list is short.
    routes: through
      .toSorted((a, b) => Number(isDefault(b)) - Number(isDefault(a)))
      .map(({ to, via }) => (via ? `${to} ${via}` : to)),
  };
}

/** True if the route is in the main table also after an apply: routing mode `main`. */
function isRequested({ to, via }: Route, { routes, routing }: RequestInterface): boolean {
  return routing === 'main' && routes.some((route) => route.to === to && route.via === via);
}
