import * as z from 'zod';

/** What a notification says has changed: places to look at, never how they are now. */
export interface Happening {
  /** Servers, lower case. */
  readonly servers: readonly string[];
  /** Ports that may have been at another server before, lower case. */
  readonly ports: readonly string[];
  /** Networks and subnets, lower case. */
  readonly networks: readonly string[];
  /** Projects that have a server more than before: it may be one that is selected by its name or by what it carries. */
  readonly projects: readonly string[];
  /** Users, projects, domains and application credentials that may do less than before, lower case. */
  readonly accounts: readonly string[];
  /** What it says concerns more than these. */
  readonly whole: boolean;
}

export type Notification =
  | { readonly kind: 'happening'; readonly happening: Happening; readonly sentAt: Date | undefined }
  /** Of no concern to NICs. */
  | { readonly kind: 'other' }
  /** `why` never quotes the message: those of Nova's scheduler hold tokens. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** A bulk create of 500 ports; longer ones are not kept, and may have said anything. */
export const longestMessage = 1024 * 1024;

// oslo.messaging: the message is a text of JSON within JSON; 2.x is the format of the driver `messagingv2`.
const envelopeSchema = z.object({
  'oslo.version': z.string().regex(/^2\./),
  'oslo.message': z.string(),
});
const messageSchema = z.object({
  event_type: z.string(),
  // UTC, "2026-11-23 01:52:48.746235".
  timestamp: z.string().optional().catch(undefined),
  payload: z.record(z.string(), z.unknown()).catch({}),
});

/** Reads one message of the bus; undefined is one that was too long to be kept. */
export function readNotification(body: Buffer | undefined): Notification {
  if (!body) return happened({ whole: true }, undefined);
  const envelope = envelopeSchema.safeParse(jsonOf(body.toString('utf8'))).data;
  if (!envelope) return { kind: 'unreadable', why: 'no oslo envelope of version 2' };
  const message = messageSchema.safeParse(jsonOf(envelope['oslo.message'])).data;
  if (!message) return { kind: 'unreadable', why: 'no message with an event_type in the envelope' };
  const { event_type: event, payload, timestamp } = message;
  const happening = happeningOf(event, payload);
  return happening ? happened(happening, timeOf(timestamp)) : { kind: 'other' };
}

export const nothingHappened: Happening = {
  servers: [],
  ports: [],
  networks: [],
  projects: [],
  accounts: [],
  whole: false,
};

function happened(what: Partial<Happening>, sentAt: Date | undefined): Notification {
  return {
    kind: 'happening',
    happening: { ...nothingHappened, ...what },
    sentAt,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // whoever may write to the bus wrote no JSON
  }
}

function timeOf(timestamp: string | undefined): Date | undefined {
  if (!timestamp) return undefined;
  const time = new Date(`${timestamp.replace(' ', 'T').replace(/Z$/, '')}Z`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

type Payload = z.infer<typeof messageSchema>['payload'];

function happeningOf(event: string, payload: Payload): Partial<Happening> | undefined {
  if (/^port\.(create|update|delete)\.end$/.test(event)) return ofPorts(event, payload);
  // MTU, gateway and routes of NICs are theirs.
  if (/^(network|subnet)\.(update|delete)\.end$/.test(event)) return ofNetworks(payload);
  if (/^(compute\.)?instance\..+\.end$/.test(event)) return ofServer(event, payload);
  if (takesAccessOfMany.test(event)) return { whole: true };
  return takesAccess.test(event) ? ofAccess(payload) : undefined;
}

/** Who is in a group or has a role nobody says; who leaves a group is an update of it. */
const takesAccessOfMany = /^identity\.(group\.(updated|deleted)|role\.deleted)$/;
/**
 * Keystone's notifications know no start and end. That a project, a user or a domain was disabled it tells others as an
 * update alone (resource/core.py: `disabled` is not public).
 */
const takesAccess =
  /^identity\.((project|user|domain)\.(updated|deleted)|(application_credential|role_assignment)\.deleted)$/;

const id = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  .optional()
  .catch(undefined);
const portSchema = z
  .object({ id, device_id: id, device_owner: z.string().catch('') })
  .optional()
  .catch(undefined);
const portsSchema = z.object({
  port: portSchema,
  /** All that older Neutrons say of a deleted port. */
  port_id: id,
  /** Of a bulk create. */
  ports: z.array(portSchema).optional().catch(undefined),
});

function ofPorts(event: string, payload: Payload): Partial<Happening> | undefined {
  const {
    port,
    port_id: portId,
    ports = [port ?? { id: portId, device_owner: '' }],
  } = portsSchema.parse(payload);
  // Ports of DHCP and routers come and go with the networks of everybody.
  const ofServers = ports.filter((one) => one && !one.device_owner.startsWith('network:'));
  const servers = ofServers.flatMap((one) => one?.device_id ?? []);
  // A new port was nowhere before; any other may have left a server that the message no longer names.
  const left = event.startsWith('port.create') ? [] : ofServers.flatMap((one) => one?.id ?? []);
  return servers.length + left.length > 0 ? { servers, ports: left } : undefined;
}

const networksSchema = z.object({
  network: z.object({ id }).optional().catch(undefined),
  subnet: z.object({ id }).optional().catch(undefined),
  /** All that is said of a deleted one by older Neutrons. */
  network_id: id,
  subnet_id: id,
});

function ofNetworks(payload: Payload): Partial<Happening> {
  const { network, subnet, network_id, subnet_id } = networksSchema.parse(payload);
  const ids = [network?.id, subnet?.id, network_id, subnet_id];
  const networks = [...new Set(ids.flatMap((one) => one ?? []))];
  return networks.length > 0 ? { networks } : { whole: true };
}

const projectId = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-f-]{32,36}$/)
  .optional()
  .catch(undefined);
const serverSchema = z.object({
  instance_id: id,
  tenant_id: projectId,
  /** Of versioned notifications. */
  'nova_object.data': z.object({ uuid: id, tenant_id: projectId }).optional().catch(undefined),
});

function ofServer(event: string, payload: Payload): Partial<Happening> | undefined {
  const said = serverSchema.parse(payload);
  const versioned = said['nova_object.data'];
  const server = said.instance_id ?? versioned?.uuid;
  if (server === undefined) return undefined;
  const project = said.tenant_id ?? versioned?.tenant_id;
  const isNew = event.endsWith('instance.create.end') && project !== undefined;
  return { servers: [server], ...(isNew ? { projects: [project] } : {}) };
}

const accountId = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-z-]{1,64}$/)
  .optional()
  .catch(undefined);
const accessSchema = z.object({
  /** The user, project, domain or application credential itself. */
  resource_info: accountId,
  /** Of a role that was taken; who is in a group nobody says. */
  user: accountId,
});

/** In a large cloud somebody loses something all the time: it concerns those who are it. */
function ofAccess(payload: Payload): Partial<Happening> {
  const { resource_info: info, user } = accessSchema.parse(payload);
  const accounts = [info, user].flatMap((one) => one ?? []);
  return accounts.length > 0 ? { accounts } : { whole: true };
}
