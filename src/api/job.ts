import * as z from 'zod';

/** Version of the request and the result; the two sides refuse any other. */
export const protocol = 1;

/** Which object state an agent run is about; anything older than what the host has seen is refused. */
export const fence = z.object({
  uid: z.string().min(1).max(64),
  generation: z.int().min(0),
});

export type Fence = z.infer<typeof fence>;

export const requestRoute = z.object({
  to: z.cidrv4(),
  via: z.ipv4().optional(),
  metric: z.int().min(0).optional(),
});

/** One NIC the node shall have; addresses are `ip/prefix` of the NIC itself, MACs lower case. */
export const requestInterface = z.object({
  index: z.int().min(0).max(9),
  portId: z.string().max(64).optional(),
  mac: z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/),
  mtu: z.int().min(68).max(65_535).optional(),
  addresses: z.array(z.cidrv4()).min(1).max(32),
  gateway: z.ipv4().optional(),
  routes: z.array(requestRoute).max(64),
  routing: z.literal('pbr'),
});

export type RequestInterface = z.infer<typeof requestInterface>;

/** What the agent is told, in the Job's immutable ConfigMap; the agent has no access to the API server. */
export const jobRequest = z.object({
  protocol: z.literal(protocol),
  ...fence.shape,
  attempt: z.int().min(0),
  action: z.enum(['apply', 'cleanup']),
  nodeName: z.string().min(1).max(253),
  /** Addresses of the Node object: no NIC that carries one of them is ever touched. */
  protectedAddresses: z.array(z.union([z.ipv4(), z.ipv6()])).max(64),
  interfaces: z.array(requestInterface).max(10),
  /** MACs of entries that cannot be used: a NIC of ours with one of them stays as it is and is in no result. */
  keep: z.array(requestInterface.shape.mac).max(64).optional(),
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
  'InvalidEntry',
  'ApplyFailed',
  'VerifyFailed',
  'PersistFailed',
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

/** Why a whole request was refused before anything was touched. */
export const refusalReason = z.enum(['StaleRequest', 'UnknownState', 'InvalidRequest']);

/** The agent's answer, written as the container's termination message (at most 4,000 bytes). */
export const jobResult = z.object({
  protocol: z.literal(protocol),
  ...fence.shape,
  attempt: z.int().min(0),
  bootId: z.string().max(64),
  outcome: z.enum(['ok', 'partial', 'failed', 'refused']),
  refusal: z.object({ reason: refusalReason, message: z.string().max(400) }).optional(),
  nics: z.array(nicResult).max(20),
  warnings: z.array(z.string().max(80)).max(20),
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
