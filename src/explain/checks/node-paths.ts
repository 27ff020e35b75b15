import { acceptInterfaces } from '../../api/accept-interface.ts';
import {
  bitsOf,
  contains,
  familyOf,
  hostPrefix,
  ipOf,
  networkAt,
  networkOf,
  prefixOf,
} from '../../api/address.ts';
import {
  type ClusterNetwork,
  clusterNetworkText,
  clusterOverlap,
} from '../../api/cluster-networks.ts';
import type { RequestInterface } from '../../api/job.ts';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { interfaceName } from '../../api/names.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { joined } from '../wording.ts';
import type { CheckWarning } from './check-warning.ts';

/** Usable NIC; `failedWith` is the status reason, undefined if the NIC is not Failed. */
interface Nic {
  readonly nic: RequestInterface;
  readonly name: string;
  readonly failedWith: string | undefined;
}

/** Returns at most a single warning per reason about NICs without their own path, which earlier agents accept. */
export function pathWarnings(
  config: MultiNicNodeConfig,
  networks: readonly ClusterNetwork[],
): readonly CheckWarning[] {
  const nics = nicsOf(config);
  const overlaps = Map.groupBy(
    nics.flatMap((nic) => overlapOf(nic, networks) ?? []),
    ({ reason }) => reason,
  );
  return [
    ...warningOf('PathBypassed', sharedNetworks(nics)),
    ...(['NodePathTaken', 'SubnetOverlapsCluster'] as const).flatMap((reason) =>
      warningOf(
        reason,
        (overlaps.get(reason) ?? []).map(({ evidence }) => evidence),
      ),
    ),
  ];
}

/** Returns the usable entries: refused entries have their own reasons. */
function nicsOf({ spec, status }: MultiNicNodeConfig): readonly Nic[] {
  const failed = new Map(
    (status?.interfaceStatuses ?? [])
      .filter((each) => each.status === 'Failed')
      .map(({ macAddress = '', reason }) => [macAddress.toLowerCase(), reason]),
  );
  return acceptInterfaces(spec.interfaces ?? []).accepted.map(({ nic }) => ({
    nic,
    name: interfaceName(nic.index),
    failedWith: failed.get(nic.mac),
  }));
}

/** Returns the NIC's networks in the main table; routing `pbr` and `isolated` add no routes to the main table. */
function reachedBy({ nic: { addresses, routes, routing } }: Nic): readonly string[] {
  const ofRoutes = routing === 'main' ? routes.map(({ to }) => to) : [];
  return [...new Set([...addresses, ...ofRoutes].map(networkOf))];
}

/** Returns evidence for each network behind several NICs without their own routing table. */
function sharedNetworks(nics: readonly Nic[]): readonly Wording[] {
  const reached = nics
    .filter(({ nic }) => nic.routing !== 'pbr')
    .flatMap((nic) => reachedBy(nic).map((network) => ({ network, nic })));
  const groups = [...Map.groupBy(reached, ({ network }) => network)]
    .map(([network, list]) => ({ network, sharing: list.map(({ nic }) => nic) }))
    .filter(({ sharing }) => sharing.length > 1)
    .filter(({ sharing }) => sharing.every(({ failedWith }) => failedWith !== 'PathBypassed'));
  if (groups.length === 0) return [];
  const shares = {
    en: groups.map(({ network, sharing }) => `${listOf(sharing, ' and ')} share ${network}`),
    ko: groups.map(({ network, sharing }) => `${listOf(sharing, ', ')}: ${network}`),
  };
  const networks = { en: shares.en.join(', '), ko: shares.ko.join('; ') };
  return [filled(doctorTexts.networkShared, { networks })];
}

function listOf(nics: readonly Nic[], and: string): string {
  const names = nics.map(({ name }) => name);
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].join(and);
}

const overlapReasons = ['NodePathTaken', 'SubnetOverlapsCluster'] as const;
type OverlapReason = (typeof overlapReasons)[number];

/** Returns the NIC's overlap with the cluster's networks; undefined: none, or the status shows the overlap. */
function overlapOf(
  nic: Nic,
  networks: readonly ClusterNetwork[],
): { readonly reason: OverlapReason; readonly evidence: Wording } | undefined {
  const reached = reachedBy(nic);
  const found = clusterOverlap(reached, [], networks);
  if (!found || overlapReasons.some((reason) => reason === nic.failedWith)) return undefined;
  const [own, other] = [found.reached, clusterNetworkText(found.network)];
  const service = apiServerServices(networks).find((ip) =>
    reached.some((cidr) => contains(cidr, ip)),
  );
  if (service !== undefined) {
    const evidence = filled(doctorTexts.servicePathTaken, { name: nic.name, service, own, other });
    return { reason: 'NodePathTaken', evidence };
  }
  const evidence = filled(doctorTexts.overlaps, { name: nic.name, own, other });
  return { reason: 'SubnetOverlapsCluster', evidence };
}

/** Returns the API server's Service address per family: the first address for Services. */
function apiServerServices(networks: readonly ClusterNetwork[]): readonly string[] {
  const services = networks.filter(({ use }) => use === 'Services').map(({ cidr }) => cidr);
  return ([4, 6] as const).flatMap((family) => {
    const [lowest] = services
      .filter((cidr) => familyOf(cidr) === family)
      .toSorted((a, b) => Number(bitsOf(a) - bitsOf(b)));
    if (lowest === undefined) return [];
    const single = hostPrefix(family);
    const first = bitsOf(lowest) + (prefixOf(lowest) === single ? 0n : 1n);
    return [ipOf(networkAt(family, first, single))];
  });
}

const otherSubnet = doctorTexts.otherSubnet;

const nextSteps = {
  PathBypassed: doctorTexts.ownSubnets,
  NodePathTaken: otherSubnet,
  SubnetOverlapsCluster: otherSubnet,
};

function warningOf(reason: keyof typeof nextSteps, evidence: readonly Wording[]): CheckWarning[] {
  if (evidence.length === 0) return [];
  const next = { text: nextSteps[reason], commands: [], preview: [] };
  return [{ reason, evidence: joined(evidence), next }];
}
