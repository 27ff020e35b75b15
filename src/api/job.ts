import * as z from 'zod';
import { familyOf, plainForm } from './address.ts';

/**
 * Versions of the request and the result; the two sides refuse any other. Each adds to the one before: 2 machine, fence and
 * known NICs, 3 NICs with IPv6 and with other routing than `pbr`, and the action `check`. An agent that knows less is sent a request of an older
 * version, without what needs a newer one.
 */
export const protocols = [1, 2, 3] as const;
export type Protocol = (typeof protocols)[number];
/** The newest one. */
export const protocol = 3 satisfies Protocol;
const protocolVersion = z.union(protocols.map((version) => z.literal(version)));

/**
 * How a host keeps its network over a reboot: netplan, files of systemd-networkd itself, or profiles of NetworkManager as
 * keyfiles or as ifcfg files.
 */
export const family = z.enum(['netplan', 'networkd', 'keyfile', 'ifcfg']);

export type Family = z.infer<typeof family>;

/** Which object state an agent run is about; anything older than what the host has seen is refused. */
export const fence = z.object({
  uid: z.string().min(1).max(64),
  generation: z.int().min(0),
});

export type Fence = z.infer<typeof fence>;

const ip6 = z.ipv6().transform(plainForm);
const ip = z.union([z.ipv4(), ip6]);
const cidr = z.union([z.cidrv4(), z.cidrv6().transform(plainForm)]);

export const requestRoute = z.object({
  to: cidr,
  via: ip.optional(),
  metric: z.int().min(0).optional(),
});

/**
 * How traffic finds a NIC: `pbr`, each of its addresses answers from a table of its own; `main`, its routes are in the main
 * table, but never a default route; `isolated`, none but its own subnets are reached by it.
 */
export const routings = ['pbr', 'main', 'isolated'] as const;

/** Most routes of one NIC. */
export const maxRoutes = 64;

/** One NIC the node shall have; addresses are `ip/prefix` of the NIC itself, MACs lower case. */
export const requestInterface = z.object({
  index: z.int().min(0).max(9),
  portId: z.string().max(64).optional(),
  mac: z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
  mtu: z.int().min(68).max(65_535).optional(),
  /** Of both families. */
  addresses: z.array(cidr).min(1).max(32),
  gateway: z.ipv4().optional(),
  gateway6: ip6.optional(),
  routes: z.array(requestRoute).max(maxRoutes),
  routing: z.enum(routings),
});

export type RequestInterface = z.infer<typeof requestInterface>;

/** The oldest version in which a NIC can be asked for. */
export function protocolOf({ addresses, routing }: RequestInterface): Protocol {
  return routing !== 'pbr' || addresses.some((text) => familyOf(text) === 6) ? 3 : 1;
}

/**
 * What its Job gives the agent's Pod. Webhooks, policies and runtimes may take some of it away before the agent begins; what is
 * left would do half of a change, or call a node clean that is not.
 */
export const podRights = z.object({
  /** `runAsUser` of the container. */
  user: z.int().min(0),
  /** Capabilities without `CAP_`; an agent looks past one that it does not know. */
  capabilities: z.array(z.string().max(64)).max(64),
  hostNetwork: z.boolean(),
  /** Paths of the host that are mounted under `jobFiles.hostRoot`. */
  mounts: z.array(z.object({ path: z.string().max(256), writable: z.boolean() })).max(64),
});

export type PodRights = z.infer<typeof podRights>;

/** What the agent is told, in the Job's immutable ConfigMap; the agent has no access to the API server. */
export const jobRequest = z.object({
  protocol: protocolVersion,
  ...fence.shape,
  /** Protocol 2: `status.nodeInfo.machineID` of the Node; a host with another `/etc/machine-id` refuses (`WrongMachine`). */
  machineId: z.string().min(1).max(64).optional(),
  /**
   * Protocol 2: the fence that the host answered with `StaleRequest`, when the object was read again from the server
   * since: after a restored etcd its generation is behind the host's. A late old request cannot carry it.
   */
  supersedes: fence.optional(),
  attempt: z.int().min(0),
  /** `check` looks and changes nothing. */
  action: z.enum(['apply', 'cleanup', 'check']),
  nodeName: z.string().min(1).max(253),
  /** Addresses of the Node object but for those of our own NICs: no NIC that carries one of them is ever touched. */
  protectedAddresses: z.array(z.union([z.ipv4(), z.ipv6()])).max(64),
  interfaces: z.array(requestInterface).max(10),
  /** MACs of entries that cannot be used: a NIC of ours with one of them stays as it is and is in no result. */
  keep: z.array(requestInterface.shape.mac).max(64).optional(),
  /** Of which family's files the Pod is made for; those of netplan where nobody says. An older agent looks past it. */
  family: family.optional(),
  /** An agent that lacks one refuses (`RightMissing`). An older agent looks past it. */
  rights: podRights.optional(),
});

export type JobRequest = z.infer<typeof jobRequest>;
export type JobAction = JobRequest['action'];

/** Reasons of a NIC in a result; each has a row in the table of reasons. */
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
]);

export type NicReason = z.infer<typeof nicReason>;

export const nicState = z.enum(['Configured', 'Removed', 'Pending', 'Failed']);

export const nicResult = z.object({
  index: z.int().min(0).max(9),
  portId: z.string().max(64).optional(),
  mac: z.string().max(17),
  /** Kernel name the NIC has now; empty when it is not on the host. */
  name: z.string().max(15),
  state: nicState,
  reason: nicReason,
  /** At most 120 bytes of UTF-8: ten of them fit the termination message. */
  message: z.string().max(120),
});

export type NicResult = z.infer<typeof nicResult>;

/** A NIC that was given its index on a host. */
export const reportedNic = z.object({
  mac: requestInterface.shape.mac,
  portId: z.string().max(64).optional(),
  index: z.int().min(0).max(9),
});

export type ReportedNic = z.infer<typeof reportedNic>;

/** Why a whole request was refused before anything was touched. */
export const refusalReason = z.enum([
  'StaleRequest',
  'UnknownState',
  'InvalidRequest',
  'WrongMachine',
  'AlreadyRunning',
  'RightMissing',
]);

/** The agent's answer, written as the container's termination message (at most 4,000 bytes). */
export const jobResult = z.object({
  protocol: protocolVersion,
  ...fence.shape,
  attempt: z.int().min(0),
  bootId: z.string().max(64),
  outcome: z.enum(['ok', 'partial', 'failed', 'refused']),
  refusal: z.object({ reason: refusalReason, message: z.string().max(400) }).optional(),
  nics: z.array(nicResult).max(20),
  warnings: z.array(z.string().max(80)).max(20),
  /** How many things others had on the host before the run and have no more; absent where there are none, or nobody looked. */
  foreignStateLost: z.int().min(0).optional(),
  /** Protocol 2: the NICs that the host's state.json knows as ours, so that names outlive the object. */
  known: z.array(reportedNic).max(10).optional(),
  /** Protocol 2: the newest object state that the host has seen. */
  fence: fence.optional(),
  /** What the host was found to be, of the families that this agent has files for. */
  family: family.optional(),
});

export type JobResult = z.infer<typeof jobResult>;

/** Files of the Job's container. */
export const jobFiles = {
  /** Key of the request in the Job's ConfigMap. */
  requestKey: 'request.json',
  requestDirectory: '/etc/multinic/request',
  result: '/dev/termination-log',
  /** Where the host's /etc/netplan, /var/lib/multinic … are mounted in the agent's container. */
  hostRoot: '/host',
} as const;
