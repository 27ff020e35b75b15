import * as z from 'zod';
import { familyOf, plainForm } from './address.ts';
import { clusterNetwork, maxClusterNetworks } from './cluster-networks.ts';
import { existingConfiguration, foundConfiguration } from './found-configuration.ts';
import type { NicCode } from './nic-codes.ts';

/**
 * Versions of request and result; both sides refuse any other version. Version 2 adds machine, fence and known NICs;
 * version 3 adds IPv6, routing other than `pbr`, and the action `check`; version 4 names removable NICs; version 5
 * adds the cluster's networks, codes and newer reasons; version 6 adds the adoption of configured NICs. Older agents
 * receive an older version without newer features.
 */
export const protocols = [1, 2, 3, 4, 5, 6] as const;
export type Protocol = (typeof protocols)[number];
/** Latest version. */
export const protocol = 6 satisfies Protocol;
/** First version with consent to adoption. */
export const adoptionProtocol = 6 satisfies Protocol;
const protocolVersion = z.union(protocols.map((version) => z.literal(version)));

/**
 * How a host persists network configuration: netplan, systemd-networkd files, or NetworkManager profiles as keyfiles
 * or ifcfg files.
 */
export const family = z.enum(['netplan', 'networkd', 'keyfile', 'ifcfg']);

export type Family = z.infer<typeof family>;

/** Object state that an agent run belongs to; the host refuses older states than its latest. */
export const fence = z.object({
  uid: z.string().min(1).max(64),
  generation: z.int().min(0),
});

export type Fence = z.infer<typeof fence>;

const ip6 = z.ipv6().transform(plainForm);
const ip = z.union([z.ipv4(), ip6]);
const cidr = z.union([z.cidrv4(), z.cidrv6().transform(plainForm)]);

const requestRoute = z.object({
  to: cidr,
  via: ip.optional(),
  metric: z.int().min(0).optional(),
});

/**
 * Routing modes. `pbr`: each address answers from its own table. `main`: routes are in the main table, without
 * default route. `isolated`: only the NIC's own subnets are reachable.
 */
export const routings = ['pbr', 'main', 'isolated'] as const;

/** Maximum number of routes per NIC. */
export const maxRoutes = 64;

/** Desired NIC on a node; addresses have the form `ip/prefix`, MACs are lower case. */
const requestInterface = z.object({
  index: z.int().min(0).max(9),
  portId: z.string().max(64).optional(),
  mac: z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
  mtu: z.int().min(68).max(65_535).optional(),
  /** IPv4 and IPv6. */
  addresses: z.array(cidr).min(1).max(32),
  gateway: z.ipv4().optional(),
  gateway6: ip6.optional(),
  routes: z.array(requestRoute).max(maxRoutes),
  routing: z.enum(routings),
});

export type RequestInterface = z.infer<typeof requestInterface>;

/** Returns the oldest version that supports this NIC. */
export function protocolOf({ addresses, routing }: RequestInterface): Protocol {
  return routing !== 'pbr' || addresses.some((text) => familyOf(text) === 6) ? 3 : 1;
}

/**
 * Rights that the Job grants to the agent's Pod. Webhooks, policies and runtimes may remove some of them before the
 * agent starts. With missing rights an agent would apply half a change, or report an unclean node as clean.
 */
const podRights = z.object({
  /** `runAsUser` in the container. */
  user: z.int().min(0),
  /** Capabilities without `CAP_`; agents ignore unknown capabilities. */
  capabilities: z.array(z.string().max(64)).max(64),
  hostNetwork: z.boolean(),
  /** Host paths mounted under `jobFiles.hostRoot`. */
  mounts: z.array(z.object({ path: z.string().max(256), writable: z.boolean() })).max(64),
});

export type PodRights = z.infer<typeof podRights>;

/** Address and TCP port. */
const endpoint = z.object({ address: ip, port: z.int().min(1).max(65_535) });

/** How Pods and the node reach the API server. */
export const apiServer = z.object({
  /** The Service `kubernetes` in the namespace `default`. */
  service: endpoint.optional(),
  endpoints: z.array(endpoint).max(8),
});

export type ApiServer = z.infer<typeof apiServer>;

/** Request to the agent in the Job's immutable ConfigMap; the agent has no access to the API server. */
export const jobRequest = z.object({
  protocol: protocolVersion,
  ...fence.shape,
  /**
   * Protocol 2: `status.nodeInfo.machineID` from the Node; a host with a different `/etc/machine-id` refuses
   * (`WrongMachine`).
   */
  machineId: z.string().min(1).max(64).optional(),
  /**
   * Protocol 2: fence from the host's `StaleRequest` answer, set after the object was read again. After an etcd
   * restore the object's generation is behind the host's. A late old request cannot carry this fence.
   */
  supersedes: fence.optional(),
  attempt: z.int().min(0),
  /** `check` only reads. */
  action: z.enum(['apply', 'cleanup', 'check']),
  nodeName: z.string().min(1).max(253),
  /** The Node object's addresses except our own NICs' addresses: a NIC with such an address is never changed. */
  protectedAddresses: z.array(z.union([z.ipv4(), z.ipv6()])).max(64),
  interfaces: z.array(requestInterface).max(10),
  /** MACs in unusable entries: our NICs with these MACs stay unchanged and appear in no result. */
  keep: z.array(requestInterface.shape.mac).max(64).optional(),
  /**
   * Protocol 4: removable NICs. Managed NICs neither requested nor named stay (`Held`). Up to protocol 3 all
   * unrequested NICs leave.
   */
  mayRemove: z.array(requestInterface.shape.mac).max(20).optional(),
  /** Protocol 4: NICs removable only without a link with their MAC. */
  mayRemoveIfGone: z.array(requestInterface.shape.mac).max(20).optional(),
  /** Protocol 5: networks that no NIC may reach; outside the content hash. */
  clusterNetworks: z.array(clusterNetwork).max(maxClusterNetworks).optional(),
  /** Protocol 5: the API server, for lookups and probes; outside the content hash. */
  apiServer: apiServer.optional(),
  /** Protocol 6: consent to take over existing configuration of the requested NICs; undefined: `Refuse`. */
  existingConfiguration: existingConfiguration.optional(),
  /** Network manager whose folders the Pod mounts; undefined: netplan. Older agents ignore this field. */
  family: family.optional(),
  /** Rights; an agent that lacks any right refuses (`RightMissing`). Older agents ignore this field. */
  rights: podRights.optional(),
});

export type JobRequest = z.infer<typeof jobRequest>;
export type JobAction = JobRequest['action'];

/** Reasons for a NIC in a result; each has a row in the reasons table. */
export const nicReason = z.enum([
  'Configured',
  'Removed',
  'WaitingForNIC',
  'NICInUse',
  'PrimaryNIC',
  'DuplicateMAC',
  'TableInUse',
  'SubnetOverlapsPrimary',
  'SubnetOverlapsForeign',
  'LeasedByHost',
  'WrongFamily',
  'AgentTooOld',
  'Drifted',
  'InvalidEntry',
  'ApplyFailed',
  'VerifyFailed',
  'PersistFailed',
  'AddressDuplicate',
  'RolledBack',
  'RollbackFailed',
  'RemovalHeld',
  'SubnetOverlapsCluster',
  'PathBypassed',
  'NodePathTaken',
  'MACChanged',
  'NodeConnectivityLost',
  'FilesLeft',
  'AdoptedAtBoot',
]);

export type NicReason = z.infer<typeof nicReason>;

const nicReasons: ReadonlySet<string> = new Set(nicReason.options);

/** Returns a NIC's reason; undefined for any other text. Without the schema, which creates an error for each other text. */
export function nicReasonIn(text: string | undefined): NicReason | undefined {
  return text !== undefined && nicReasons.has(text) ? (text as NicReason) : undefined;
}

/** Reasons that no apply can mend: the cause is outside the NIC's own configuration. */
const beyondApply: ReadonlySet<string> = new Set<NicReason>([
  'PathBypassed',
  'NodePathTaken',
  'MACChanged',
  'SubnetOverlapsCluster',
]);

/** `VerifyFailed` codes for a configured NIC without answers. */
const silent: ReadonlySet<string> = new Set<NicCode>(['ArpOff', 'ArpIgnored', 'LocalEntryMissing']);

/** True for a failure that no apply can mend; `AdoptedAtBoot` ends at the next boot. */
export function isBeyondApply({
  state,
  reason,
  code = '',
}: Pick<NicResult, 'state' | 'reason' | 'code'>): boolean {
  if (reason === 'AdoptedAtBoot') return true;
  if (state !== 'Failed') return false;
  return beyondApply.has(reason) || (reason === 'VerifyFailed' && silent.has(code));
}

/**
 * True if the NIC has its configuration on the host, also if no packet takes its path, or only in files for the next
 * boot.
 */
export function isInPlace(nic: Pick<NicResult, 'state' | 'reason' | 'code'>): boolean {
  const { state, reason } = nic;
  if (state === 'Configured') return true;
  return isBeyondApply(nic) && reason !== 'MACChanged' && reason !== 'SubnetOverlapsCluster';
}

/** Later reasons, with their first protocol and the reason for controllers before: their list of reasons is closed. */
const laterReasons: Partial<Record<NicReason, { since: Protocol; before: NicReason }>> = {
  SubnetOverlapsCluster: { since: 5, before: 'NICInUse' },
  PathBypassed: { since: 5, before: 'VerifyFailed' },
  NodePathTaken: { since: 5, before: 'VerifyFailed' },
  MACChanged: { since: 5, before: 'NICInUse' },
  NodeConnectivityLost: { since: 5, before: 'VerifyFailed' },
  FilesLeft: { since: 5, before: 'VerifyFailed' },
  AdoptedAtBoot: { since: 6, before: 'NICInUse' },
};

/** Returns the reason as a controller with this protocol reads it. */
export function reasonFor(reason: NicReason, spoken: Protocol): NicReason {
  const later = laterReasons[reason];
  return later && spoken < later.since ? later.before : reason;
}

/**
 * `Held` (protocol 4): a managed NIC stays, because the request does not name its removal. Requested NICs with the same
 * index, name or address wait and are `Held` too.
 */
const nicState = z.enum(['Configured', 'Removed', 'Pending', 'Failed', 'Held']);

const nicResult = z.object({
  index: z.int().min(0).max(9),
  portId: z.string().max(64).optional(),
  mac: z.string().max(17),
  /** Current kernel name; empty when the NIC is missing on the host. */
  name: z.string().max(15),
  state: nicState,
  reason: nicReason,
  /** At most 120 bytes in UTF-8: ten messages fit into the termination message. */
  message: z.string().max(120),
  /** Link carrier; absent: unknown, such as from an older agent. */
  carrier: z.boolean().optional(),
  /** Protocol 5: the reason's case; text, because newer agents have further codes. */
  code: z.string().max(32).optional(),
  /** Protocol 5: the values in the message, at most 60 bytes. */
  args: z.string().max(60).optional(),
  /** Configuration of the NIC by other programs; earlier controllers ignore this field. */
  found: foundConfiguration.optional(),
});

export type NicResult = z.infer<typeof nicResult>;

/** NIC with an assigned index on a host. */
const reportedNic = z.object({
  mac: requestInterface.shape.mac,
  portId: z.string().max(64).optional(),
  index: z.int().min(0).max(9),
});

export type ReportedNic = z.infer<typeof reportedNic>;

/** Reasons for refusing a whole request before any change. */
export const refusalReason = z.enum([
  'StaleRequest',
  'UnknownState',
  'InvalidRequest',
  'WrongMachine',
  'AlreadyRunning',
  'RightMissing',
]);

/** Agent result, written as the container's termination message (at most 4,000 bytes). */
export const jobResult = z.object({
  protocol: protocolVersion,
  ...fence.shape,
  attempt: z.int().min(0),
  bootId: z.string().max(64),
  outcome: z.enum(['ok', 'partial', 'failed', 'refused']),
  refusal: z.object({ reason: refusalReason, message: z.string().max(400) }).optional(),
  nics: z.array(nicResult).max(20),
  warnings: z.array(z.string().max(80)).max(20),
  /** Number of foreign items lost during the run: only in results of earlier agents, and not evaluated. */
  foreignStateLost: z.int().min(0).optional(),
  /** Protocol 2: our NICs in the host's state.json, so that names outlive the object. */
  known: z.array(reportedNic).max(20).optional(),
  /** Protocol 2: latest object state known to the host. */
  fence: fence.optional(),
  /** Network manager detected on the host, if supported by this agent. */
  family: family.optional(),
});

export type JobResult = z.infer<typeof jobResult>;

/** Files in the Job's container. */
export const jobFiles = {
  /** Key for the request in the Job's ConfigMap. */
  requestKey: 'request.json',
  requestDirectory: '/etc/multinic/request',
  result: '/dev/termination-log',
  /** Mount point for the host's /etc/netplan, /var/lib/multinic … in the agent's container. */
  hostRoot: '/host',
} as const;
