import * as z from 'zod';

/** Change reported by a notification: ids to read again, never the new state. */
export interface Happening {
  /** Server ids, lower case. */
  readonly servers: readonly string[];
  /** Ports that another server may have had before, lower case. */
  readonly ports: readonly string[];
  /** Network and subnet ids, lower case. */
  readonly networks: readonly string[];
  /** Projects with a new server, which a name or a selector may match. */
  readonly projects: readonly string[];
  /** Users, projects, domains and application credentials that may have lost rights, lower case. */
  readonly accounts: readonly string[];
  /** True if the change affects more than the listed ids. */
  readonly whole: boolean;
}

export type Notification =
  | { readonly kind: 'happening'; readonly happening: Happening; readonly sentAt: Date | undefined }
  /** Irrelevant for NICs. */
  | { readonly kind: 'other' }
  /** `why` never quotes the message: Nova's scheduler messages contain tokens. */
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Longest message that is kept (1 MiB), enough for a bulk create with 500 ports. Longer messages count as any change.
 */
export const longestMessage = 1024 * 1024;

// oslo.messaging: the message is JSON text within JSON; 2.x is the format used by the driver `messagingv2`.
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

/** Parses one bus message; undefined: an oversized message. */
export function readNotification(body: Buffer | undefined): Notification {
  if (!body) return happened({ whole: true }, undefined);
  const envelope = envelopeSchema.safeParse(jsonOf(body.toString('utf8'))).data;
  if (!envelope)
    return { kind: 'unreadable', why: 'the message has no oslo envelope of version 2' };
  const message = messageSchema.safeParse(jsonOf(envelope['oslo.message'])).data;
  if (!message)
    return { kind: 'unreadable', why: 'the oslo envelope has no message with an event_type' };
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
    return undefined; // a publisher wrote invalid JSON
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
  // Networks and subnets define NICs' MTU, gateway and routes.
  if (/^(network|subnet)\.(update|delete)\.end$/.test(event)) return ofNetworks(payload);
  if (/^(compute\.)?instance\..+\.end$/.test(event)) return ofServer(event, payload);
  if (takesAccessOfMany.test(event)) return { whole: true };
  return takesAccess.test(event) ? ofAccess(payload) : undefined;
}

/**
 * These events do not name the users concerned: group members and role holders are unknown. Leaving a group is
 * reported as a group update.
 */
const takesAccessOfMany = /^identity\.(group\.(updated|deleted)|role\.deleted)$/;
/**
 * Keystone notifications have no start and end. Disabling a project, user or domain is published only as an update
 * (resource/core.py: `disabled` is not public).
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
  /** Older Neutrons send only this id for a deleted port. */
  port_id: id,
  /** Set for a bulk create. */
  ports: z.array(portSchema).optional().catch(undefined),
});

function ofPorts(event: string, payload: Payload): Partial<Happening> | undefined {
  const {
    port,
    port_id: portId,
    ports = [port ?? { id: portId, device_owner: '' }],
  } = portsSchema.parse(payload);
  // DHCP and router ports change with all tenants' networks.
  const ofServers = ports.filter((one) => one && !one.device_owner.startsWith('network:'));
  const servers = ofServers.flatMap((one) => one?.device_id ?? []);
  // A new port has no former server; any other may have left a server that the message omits.
  const left = event.startsWith('port.create') ? [] : ofServers.flatMap((one) => one?.id ?? []);
  return servers.length + left.length > 0 ? { servers, ports: left } : undefined;
}

const networksSchema = z.object({
  network: z.object({ id }).optional().catch(undefined),
  subnet: z.object({ id }).optional().catch(undefined),
  /** Older Neutrons send only this id for a deleted network. */
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
  /** Set in versioned notifications. */
  'nova_object.data': z.object({ uuid: id, tenant_id: projectId }).optional().catch(undefined),
});

function ofServer(event: string, payload: Payload): Partial<Happening> | undefined {
  const fields = serverSchema.parse(payload);
  const versioned = fields['nova_object.data'];
  const server = fields.instance_id ?? versioned?.uuid;
  if (server === undefined) return undefined;
  const project = fields.tenant_id ?? versioned?.tenant_id;
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
  /** Id from the user, project, domain or application credential. */
  resource_info: accountId,
  /** User whose role was deleted; group members are not listed. */
  user: accountId,
});

/** Returns the affected accounts. Role changes are frequent in a large cloud, so only named accounts are affected. */
function ofAccess(payload: Payload): Partial<Happening> {
  const { resource_info: info, user } = accessSchema.parse(payload);
  const accounts = [info, user].flatMap((one) => one ?? []);
  return accounts.length > 0 ? { accounts } : { whole: true };
}
