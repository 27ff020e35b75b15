import * as z from 'zod';
import { bodyAs } from './body.ts';
import type { Failures } from './failures.ts';
import type { Identity } from './identity.ts';
import { newId } from './ids.ts';
import type { InfoCache } from './info-cache.ts';
import type { Networks } from './networks.ts';
import type { Ports } from './ports.ts';
import type { Route } from './route.ts';
import type { Servers } from './servers.ts';

export interface ControlledWorld {
  readonly identity: Identity;
  readonly networks: Networks;
  readonly ports: Ports;
  readonly servers: Servers;
  readonly infoCache: InfoCache;
  readonly failures: Failures;
  readonly admin: { readonly username: string };
  setLatency(ms: number): void;
}

const id = z.string().min(1);
const failureBase = {
  service: z.enum(['contrabass', 'keystone', 'neutron', 'nova', 'glance']),
  times: z.number().int().positive().optional(),
  path: z.string().optional(),
};
const failureSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...failureBase,
    kind: z.literal('status'),
    status: z.number().int(),
    retryAfter: z.string().optional(),
  }),
  z.strictObject({ ...failureBase, kind: z.literal('hang') }),
  z.strictObject({ ...failureBase, kind: z.literal('reset') }),
  z.strictObject({ ...failureBase, kind: z.literal('truncate') }),
  z.strictObject({ ...failureBase, kind: z.literal('empty') }),
  z.strictObject({ ...failureBase, kind: z.literal('omit'), ids: z.array(id) }),
]);

/** What tests and the demo do to the simulated cloud beyond what its own APIs offer, and in bulk. */
export function createControls(world: ControlledWorld) {
  const { identity, networks, ports, servers, infoCache, failures } = world;
  return {
    /** A project with a user of role member; the administrator may scope to it, too. */
    createProject: control(z.strictObject({ name: z.string().min(1) }), ({ name }) => {
      const project = identity.createProject(name);
      const password = newId();
      const user = identity.createUser(name, password);
      identity.grantMember(project.id, user.id);
      identity.grantAdmin(project.id, world.admin.username);
      return { projectId: project.id, userId: user.id, username: name, password };
    }),
    createNetwork: control(
      z.strictObject({
        projectId: id,
        name: z.string().optional(),
        mtu: z.number().int().optional(),
        shared: z.boolean().optional(),
      }),
      (request) => ({ networkId: networks.createNetwork(request).id }),
    ),
    createSubnet: control(
      z.strictObject({
        projectId: id,
        networkId: id,
        cidr: z.string(),
        name: z.string().optional(),
        gatewayIp: z.string().nullish(),
      }),
      (request) => ({ subnetId: networks.createSubnet(request).id }),
    ),
    createPort: control(
      z.strictObject({
        projectId: id,
        networkId: id,
        name: z.string().optional(),
        macAddress: z.string().optional(),
      }),
      (request) => {
        const port = ports.create(request);
        return { portId: port.id, macAddress: port.macAddress, fixedIps: port.fixedIps };
      },
    ),
    createServer: control(
      z.strictObject({
        projectId: id,
        name: z.string(),
        networkIds: z.array(id).optional(),
        metadata: z.record(z.string(), z.string()).optional(),
      }),
      (request) => ({ serverId: servers.create({ ...request, userId: '' }).id }),
    ),
    /** Servers `name-0` … with so many ports each, in one go. */
    furnish: control(
      z.strictObject({
        projectId: id,
        networkId: id,
        name: z.string(),
        servers: z.number().int().positive(),
        ports: z.number().int().nonnegative(),
      }),
      ({ projectId, networkId, name, servers: count, ports: each }) => {
        const networkIds = Array<string>(each).fill(networkId);
        const serverIds = Array.from({ length: count }, (_, n) => {
          const server = { projectId, name: `${name}-${n}`, userId: '', networkIds };
          return servers.create(server).id;
        });
        return { serverIds };
      },
    ),
    attach: control(
      z.strictObject({
        serverId: id,
        portId: id.optional(),
        networkId: id.optional(),
      }),
      ({ serverId, ...target }) => {
        const port = servers.attach(serverId, target);
        return { portId: port.id, macAddress: port.macAddress, fixedIps: port.fixedIps };
      },
    ),
    detach: control(z.strictObject({ serverId: id, portId: id }), ({ serverId, portId }) => {
      servers.detach(serverId, portId);
      return {};
    }),
    setPortStatus: control(z.strictObject({ portId: id, status: z.string() }), (request) => {
      ports.update(request.portId, { status: request.status });
      return {};
    }),
    deletePort: control(z.strictObject({ portId: id }), ({ portId }) => {
      ports.delete(portId);
      return {};
    }),
    deleteServer: control(z.strictObject({ serverId: id }), ({ serverId }) => {
      servers.delete(serverId);
      return {};
    }),
    /** The port keeps its server and loses its addresses, or gets others. */
    readdressPort: control(
      z.strictObject({
        portId: id,
        fixedIps: z.array(z.object({ subnetId: id, ipAddress: z.string().optional() })),
      }),
      ({ portId, fixedIps }) => ({ fixedIps: ports.readdress(portId, fixedIps).fixedIps }),
    ),
    setServerStatus: control(
      z.strictObject({ serverId: id, status: z.enum(['ACTIVE', 'ERROR', 'SHELVED_OFFLOADED']) }),
      ({ serverId, status }) => {
        servers.setStatus(serverId, status);
        return {};
      },
    ),
    /** Keeps Neutron's events from Nova, so that its record of addresses stays as it is. */
    holdNovaEvents: control(z.strictObject({}), () => {
      infoCache.hold();
      return {};
    }),
    releaseNovaEvents: control(z.strictObject({}), () => {
      infoCache.release();
      return {};
    }),
    /** Empties Nova's record of a server's addresses. */
    loseAddresses: control(z.strictObject({ serverId: id }), ({ serverId }) => {
      infoCache.lose(serverId);
      return {};
    }),
    setLatency: control(z.strictObject({ ms: z.number().nonnegative() }), ({ ms }) => {
      world.setLatency(ms);
      return {};
    }),
    fail: control(failureSchema, (failure) => {
      failures.add(failure);
      return {};
    }),
    heal: control(z.strictObject({}), () => {
      failures.heal();
      return {};
    }),
    revokeTokens: control(z.strictObject({}), () => {
      identity.revokeAll();
      return {};
    }),
  };
}

export type Controls = ReturnType<typeof createControls>;

/** The controls over HTTP, for another process: `POST /control/<name>` with the argument as JSON. */
export function controlRoutes(controls: Controls): Route[] {
  return Object.entries(controls).map(([name, run]) => ({
    service: 'control',
    method: 'POST',
    path: `/${name}`,
    handle: ({ body }) => ({ status: 200, body: run.json(body) }),
  }));
}

interface Control<I, O> {
  (argument: I): O;
  /** The same for an argument that comes from outside. */
  json(argument: unknown): O;
}

function control<I, O>(schema: z.ZodType<I>, run: (argument: I) => O): Control<I, O> {
  return Object.assign((argument: I) => run(argument), {
    json: (argument: unknown) => run(bodyAs(schema, argument ?? {}, 'BadControl')),
  });
}
