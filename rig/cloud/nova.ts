import * as z from 'zod';
import { bodyAs } from './body.ts';
import { type Identity, maySee, type Session } from './identity.ts';
import type { InfoCache, RecordedAddress } from './info-cache.ts';
import { seconds } from './neutron-wire.ts';
import type { Port, Ports } from './ports.ts';
import { Refusal } from './refusal.ts';
import type { Reply, Route, ServedRequest } from './route.ts';
import type { Server, Servers } from './servers.ts';

export interface NovaWorld {
  readonly identity: Identity;
  readonly ports: Ports;
  readonly servers: Servers;
  readonly infoCache: InfoCache;
  readonly flavor: { readonly id: string; readonly name: string };
}

const newest = '2.93';
// osapi_max_limit
const maxLimit = 1_000;

const serverBody = z.object({
  server: z.strictObject({
    name: z.string(),
    flavorRef: z.string(),
    imageRef: z.string(),
    metadata: z.record(z.string(), z.string()).optional(),
    networks: z.array(
      z.union([z.strictObject({ uuid: z.string() }), z.strictObject({ port: z.string() })]),
    ),
  }),
});
const attachBody = z.object({
  interfaceAttachment: z.strictObject({
    port_id: z.string().optional(),
    net_id: z.string().optional(),
    fixed_ips: z.tuple([z.object({ ip_address: z.string() })]).optional(),
  }),
});

const renameBody = z.object({ server: z.strictObject({ name: z.string().min(1) }) });
const metadataBody = z.object({ metadata: z.record(z.string(), z.string()) });
// JSON schema of nova/api/openstack/compute/schemas/server_tags.py
const tagsBody = z.object({
  tags: z
    .array(
      z
        .string()
        .min(1)
        .max(60)
        .regex(/^[^,/]*$/),
    )
    .max(50),
});

const actionBody = z.union([
  z.strictObject({ shelve: z.null() }),
  z.strictObject({ 'os-resetState': z.object({ state: z.enum(['error', 'active']) }) }),
]);

/** Nova v2.1: servers and their NICs. */
export function novaRoutes({ identity, ports, servers, infoCache, flavor }: NovaWorld): Route[] {
  const service = 'nova';

  /** A route for somebody who is logged in. */
  function route(
    method: string,
    path: string,
    handle: (request: ServedRequest, session: Session) => Reply,
    query: readonly string[] = [],
  ): Route {
    return {
      service,
      method,
      path,
      query,
      handle: (request) => {
        const session = identity.sessionOf(request.headers['x-auth-token']);
        refuseMicroversion(request.headers['openstack-api-version']);
        return handle(request, session);
      },
    };
  }

  function serverOf(id: string | undefined, session: Session): Server {
    const server = servers.server(id ?? '');
    if (maySee(session, server)) return server;
    throw new Refusal(404, 'itemNotFound', `Instance ${id} could not be found.`);
  }

  function listed(query: URLSearchParams, headers: Headers, session: Session): readonly Server[] {
    const since = query.get('changes-since');
    const all = since === null ? servers.all() : servers.changedSince(timeOf(since));
    // Before 2.26 the filter by tags is left out.
    const tags = hasTags(headers) ? (query.get('tags')?.split(',') ?? []) : [];
    // Without all_tenants an administrator sees the token's project only, too.
    const own = all.filter((server) => server.projectId === session.project.id);
    return own.filter((server) => tags.every((tag) => server.tags.includes(tag)));
  }

  function list({ query, headers, origin, target }: ServedRequest, session: Session): Reply {
    const own = listed(query, headers, session);
    const limit = Math.min(Number(query.get('limit') ?? maxLimit), maxLimit);
    const marker = query.get('marker');
    const start = marker === null ? 0 : own.findIndex((server) => server.id === marker) + 1;
    if (marker !== null && start === 0) {
      throw new Refusal(400, 'badRequest', `marker [${marker}] not found`);
    }
    const page = own.slice(start, start + limit);
    const last = page.at(-1);
    const next = new URL(target, origin);
    next.searchParams.set('marker', last?.id ?? '');
    return {
      status: 200,
      body: {
        servers: page.map((server) =>
          hasTags(headers) ? { ...wireOf(server), tags: server.tags } : wireOf(server),
        ),
        ...(page.length === limit && last !== undefined
          ? { servers_links: [{ rel: 'next', href: next.href }] }
          : {}),
      },
    };
  }

  function wireOf(server: Server): object {
    const addresses = server.status === 'DELETED' ? [] : infoCache.of(server.id);
    return { ...serverWire(server), addresses: addressesWire(addresses) };
  }

  return [
    {
      service,
      method: 'GET',
      path: '/',
      handle: ({ origin, target }) => versions(origin + target),
    },
    route('GET', '/v2.1/flavors', () => ({ status: 200, body: { flavors: [flavor] } })),
    route('POST', '/v2.1/servers', ({ body }, { project, user }) => {
      const { server } = bodyAs(serverBody, body, 'badRequest');
      const made = servers.create({
        projectId: project.id,
        userId: user.id,
        name: server.name,
        metadata: server.metadata,
        networkIds: server.networks.flatMap((nic) => ('uuid' in nic ? [nic.uuid] : [])),
        portIds: server.networks.flatMap((nic) => ('port' in nic ? [nic.port] : [])),
      });
      return { status: 202, body: { server: { id: made.id, links: [] } } };
    }),
    route('GET', '/v2.1/servers/detail', list, ['limit', 'marker', 'changes-since', 'tags']),
    route('GET', '/v2.1/servers/{id}', ({ params }, session) => {
      return { status: 200, body: { server: wireOf(serverOf(params['id'], session)) } };
    }),
    route('PUT', '/v2.1/servers/{id}', ({ params, body }, session) => {
      const { server } = bodyAs(renameBody, body, 'badRequest');
      const changed = servers.change(serverOf(params['id'], session).id, server);
      return { status: 200, body: { server: wireOf(changed) } };
    }),
    route('PUT', '/v2.1/servers/{id}/metadata', ({ params, body }, session) => {
      const { metadata } = bodyAs(metadataBody, body, 'badRequest');
      servers.change(serverOf(params['id'], session).id, { metadata });
      return { status: 200, body: { metadata } };
    }),
    route('GET', '/v2.1/servers/{id}/tags', ({ params, headers }, session) => {
      refuseWithoutTags(headers);
      return { status: 200, body: { tags: serverOf(params['id'], session).tags } };
    }),
    route('PUT', '/v2.1/servers/{id}/tags', ({ params, body, headers }, session) => {
      refuseWithoutTags(headers);
      const { tags } = bodyAs(tagsBody, body, 'badRequest');
      servers.change(serverOf(params['id'], session).id, { tags });
      return { status: 200, body: { tags } };
    }),
    route('DELETE', '/v2.1/servers/{id}', ({ params }, session) => {
      servers.delete(serverOf(params['id'], session).id);
      return { status: 204 };
    }),
    route('POST', '/v2.1/servers/{id}/action', ({ params, body }, session) => {
      const { id } = serverOf(params['id'], session);
      const action = bodyAs(actionBody, body, 'badRequest');
      if ('shelve' in action) servers.setStatusLater(id, 'SHELVED_OFFLOADED');
      else if (session.isAdmin) servers.setStatus(id, states[action['os-resetState'].state]);
      else throw new Refusal(403, 'forbidden', "Policy doesn't allow it to be performed.");
      return { status: 202 };
    }),
    route('GET', '/v2.1/servers/{id}/os-interface', ({ params }, session) => {
      const server = serverOf(params['id'], session);
      // No record of Nova's: it asks Neutron with the caller's token.
      const seen = ports.of(server.id).filter((port) => maySee(session, port));
      return { status: 200, body: { interfaceAttachments: seen.map(attachmentWire) } };
    }),
    route('POST', '/v2.1/servers/{id}/os-interface', ({ params, body }, session) => {
      const server = serverOf(params['id'], session);
      const { interfaceAttachment: wanted } = bodyAs(attachBody, body, 'badRequest');
      const port = servers.attach(server.id, {
        portId: wanted.port_id,
        networkId: wanted.net_id,
        fixedIp: wanted.fixed_ips?.[0].ip_address,
      });
      return { status: 200, body: { interfaceAttachment: attachmentWire(port) } };
    }),
    route('DELETE', '/v2.1/servers/{id}/os-interface/{port}', ({ params }, session) => {
      servers.detach(serverOf(params['id'], session).id, params['port'] ?? '');
      return { status: 202 };
    }),
  ];
}

const states = { error: 'ERROR', active: 'ACTIVE' } as const;

function serverWire(server: Server): Readonly<Record<string, unknown>> {
  return {
    id: server.id,
    name: server.name,
    status: server.status,
    tenant_id: server.projectId,
    user_id: server.userId,
    metadata: server.metadata,
    created: seconds(server.createdAt),
    updated: seconds(server.updatedAt),
    'OS-EXT-STS:vm_state': server.status === 'BUILD' ? 'building' : server.status.toLowerCase(),
  };
}

function addressesWire(addresses: readonly RecordedAddress[]): unknown {
  const byNetwork = Map.groupBy(addresses, ({ network }) => network);
  return Object.fromEntries(
    [...byNetwork].map(([network, list]) => [
      network,
      list.map(({ version, address, macAddress }) => ({
        version,
        addr: address,
        'OS-EXT-IPS:type': 'fixed',
        'OS-EXT-IPS-MAC:mac_addr': macAddress,
      })),
    ]),
  );
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  const message = `Invalid input for query parameters changes-since. Value: ${text}. '${text}' is not a 'date-time'`;
  throw new Refusal(400, 'badRequest', message);
}

function attachmentWire(port: Port): unknown {
  return {
    net_id: port.networkId,
    port_id: port.id,
    mac_addr: port.macAddress,
    port_state: port.status,
    fixed_ips: port.fixedIps.map((ip) => ({ subnet_id: ip.subnetId, ip_address: ip.ipAddress })),
  };
}

type Headers = ServedRequest['headers'];

function hasTags(headers: Headers): boolean {
  const [, minor] = /^compute 2\.(\d+)$/.exec(headers['openstack-api-version'] ?? '') ?? [];
  return Number(minor ?? 1) >= 26;
}

function refuseWithoutTags(headers: Headers): void {
  if (!hasTags(headers)) throw new Refusal(404, 'itemNotFound', 'The resource could not be found.');
}

function refuseMicroversion(header: string | undefined): void {
  const asked = /^compute (\d+)\.(\d+)$/.exec(header ?? '');
  if (asked === null) return;
  if (Number(asked[1]) === 2 && Number(asked[2]) <= Number(newest.slice(2))) return;
  throw new Refusal(
    406,
    'computeFault',
    `Version ${asked[1]}.${asked[2]} is not supported by the API. Minimum is 2.1 and maximum is ${newest}.`,
  );
}

function versions(base: string): Reply {
  const links = [{ rel: 'self', href: `${base}v2.1/` }];
  const current = { id: 'v2.1', status: 'CURRENT', version: newest, min_version: '2.1', links };
  return { status: 200, body: { versions: [current] } };
}
