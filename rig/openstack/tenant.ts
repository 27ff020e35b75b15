import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { logIn, type OpenstackUser } from './openstack-http.ts';
import {
  bootableOf,
  found,
  grant,
  make,
  remove,
  removeNetwork,
  revoke,
  until,
} from './requests.ts';

/** Where a cloud is and who may make projects in it. */
export interface CloudAccess {
  readonly keystoneUrl: string;
  readonly admin: {
    readonly username: string;
    readonly password: string;
    readonly domainName: string;
    readonly projectName: string;
  };
}

interface SubnetRequest {
  readonly networkId: string;
  readonly cidr: string;
  readonly name?: string;
  /** Missing: Neutron's default, the first address; null: no gateway. */
  readonly gatewayIp?: string | null;
  readonly hostRoutes?: readonly { readonly destination: string; readonly nexthop: string }[];
}

interface PortRequest {
  readonly networkId: string;
  readonly name?: string;
  readonly macAddress?: string;
  readonly fixedIps?: readonly { readonly subnetId?: string; readonly ipAddress?: string }[];
}

interface ServerRequest {
  readonly name: string;
  readonly networkIds?: readonly string[];
  readonly portIds?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** Availability zone, named after its nova-compute; undefined: that of the first one. */
  readonly zone?: string | undefined;
}

const fixedIps = z.array(z.object({ subnet_id: z.string(), ip_address: z.string() }));
const portSchema = z.object({
  id: z.string(),
  mac_address: z.string(),
  device_id: z.string(),
  status: z.string(),
  fixed_ips: fixedIps,
});
/** A port as it is on the wire. */
export type WirePort = z.infer<typeof portSchema>;
const attachmentSchema = z.object({
  port_id: z.string(),
  mac_addr: z.string(),
  fixed_ips: fixedIps,
});
/** A NIC of a server as Nova reports it on the wire. */
export type Attachment = z.infer<typeof attachmentSchema>;

interface PortChange {
  readonly name?: string;
  readonly device_id?: string;
  readonly device_owner?: string;
  readonly admin_state_up?: boolean;
  readonly fixed_ips?: readonly { readonly subnet_id: string; readonly ip_address?: string }[];
}

interface ServerChange {
  readonly name?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
}

type Role = 'admin' | 'member' | 'reader';

/** A user of a tenant's project. */
export interface Account {
  readonly username: string;
  readonly password: string;
  grant(role: Role): Promise<void>;
  revoke(role: Role): Promise<void>;
}

/** Stands for the tenant's user in its project. */
export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  /** Takes it back: whoever logs in with it is refused from then on. */
  revoke(): Promise<void>;
}

/** A project of its own with a user of its own, who does by HTTP what tenants do. */
export interface Tenant extends AsyncDisposable {
  readonly keystoneUrl: string;
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly projectId: string;
  /** Sends requests as they are. */
  readonly user: OpenstackUser;
  /** The administrator, for what a member may not do. */
  readonly admin: OpenstackUser;
  createNetwork(request: { readonly name: string; readonly mtu?: number }): Promise<{ id: string }>;
  createSubnet(request: SubnetRequest): Promise<{ id: string }>;
  createPort(request: PortRequest): Promise<WirePort>;
  /** The port, or undefined when it is gone. */
  port(id: string): Promise<WirePort | undefined>;
  deletePort(id: string): Promise<void>;
  /** Boots a server and waits until it is ACTIVE. */
  createServer(request: ServerRequest): Promise<{ id: string }>;
  /** Deletes a server and waits until Nova does not know it any more. */
  deleteServer(id: string): Promise<void>;
  /** Gives a server another name, or replaces its metadata or tags. */
  changeServer(id: string, change: ServerChange): Promise<void>;
  attach(
    serverId: string,
    to: { readonly portId: string } | { readonly networkId: string },
  ): Promise<Attachment>;
  /** Changes a port of the tenant, by Neutron's own names. */
  updatePort(id: string, change: PortChange): Promise<WirePort>;
  /** Makes an application credential of the tenant's user for its project. */
  createApplicationCredential(): Promise<ApplicationCredential>;
  /** Makes another user with these roles in the project. */
  createAccount(roles: readonly Role[]): Promise<Account>;
  /** Asks for the detach, which is asynchronous, and waits until Neutron knows. */
  detach(serverId: string, portId: string): Promise<void>;
}

/**
 * Makes a project with a user of role `member`, both gone again with everything in them when it is disposed. Works on
 * any OpenStack where the flavor `m1.fake` and the image `fake` exist: `rig/openstack up` makes them, `rig/cloud`
 * starts with them.
 */
export async function openTenant(access: CloudAccess, name: string): Promise<Tenant> {
  const { keystoneUrl } = access;
  const { username: adminName, password: adminPassword, domainName, projectName } = access.admin;
  const admin = await logIn({
    keystoneUrl,
    username: adminName,
    password: adminPassword,
    domainName,
    project: { name: projectName },
  });
  const username = `${name}-${randomBytes(3).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  const project = await make(admin, 'identity', '/projects', 'project', { name: username });
  const account = await make(admin, 'identity', '/users', 'user', { name: username, password });
  await grant(admin, project.id, account.id, 'member');
  // Contrabass gives the administrator's account for every project.
  await grant(admin, project.id, admin.userId, 'admin');
  const user = await logIn({
    keystoneUrl,
    username,
    password,
    domainName,
    project: { id: project.id },
  });

  const accounts = new Set([account.id]);
  const servers = new Set<string>();
  const ports = new Set<string>();
  const networks = new Set<string>();
  let bootable: Promise<{ flavor: string; image: string }> | undefined;

  async function port(id: string): Promise<WirePort | undefined> {
    const body = await found(user, 'network', `/v2.0/ports/${id}`);
    return body === undefined ? undefined : z.object({ port: portSchema }).parse(body).port;
  }

  async function deletePort(id: string): Promise<void> {
    await remove(user, 'network', `/v2.0/ports/${id}`);
    ports.delete(id);
  }

  async function deleteServer(id: string): Promise<void> {
    const path = `/servers/${id}`;
    await remove(user, 'compute', path);
    await until(
      `server ${id} is gone`,
      async () => (await found(user, 'compute', path)) === undefined,
    );
    servers.delete(id);
  }

  async function statusOf(id: string): Promise<string> {
    const body = await user.ask('compute', { path: `/servers/${id}` });
    return z.object({ server: z.object({ status: z.string() }) }).parse(body).server.status;
  }

  return {
    keystoneUrl,
    username,
    password,
    domainName,
    projectId: project.id,
    user,
    admin,
    port,
    deletePort,
    deleteServer,
    async createNetwork(request) {
      const network = await make(user, 'network', '/v2.0/networks', 'network', request);
      networks.add(network.id);
      return network;
    },
    async createSubnet({ networkId, cidr, name: subnetName, gatewayIp, hostRoutes }) {
      return make(user, 'network', '/v2.0/subnets', 'subnet', {
        network_id: networkId,
        cidr,
        ip_version: cidr.includes(':') ? 6 : 4,
        name: subnetName,
        gateway_ip: gatewayIp,
        host_routes: hostRoutes,
      });
    },
    async createPort({ networkId, name: portName, macAddress, fixedIps: wanted }) {
      const request = {
        network_id: networkId,
        name: portName,
        mac_address: macAddress,
        fixed_ips: wanted?.map((ip) => ({ subnet_id: ip.subnetId, ip_address: ip.ipAddress })),
      };
      const body = await user.ask('network', {
        method: 'POST',
        path: '/v2.0/ports',
        body: { port: request },
      });
      const result = z.object({ port: portSchema }).parse(body).port;
      ports.add(result.id);
      return result;
    },
    async createServer({ name: serverName, networkIds = [], portIds = [], metadata, zone }) {
      bootable ??= bootableOf(user);
      const { flavor, image } = await bootable;
      const server = await make(user, 'compute', '/servers', 'server', {
        name: serverName,
        flavorRef: flavor,
        imageRef: image,
        metadata,
        availability_zone: zone,
        networks: [...networkIds.map((uuid) => ({ uuid })), ...portIds.map((id) => ({ port: id }))],
      });
      servers.add(server.id);
      await until(`server ${serverName} is ACTIVE`, async () => {
        const status = await statusOf(server.id);
        if (status === 'ERROR') throw new Error(`server ${serverName} is in ERROR`);
        return status === 'ACTIVE';
      });
      return { id: server.id };
    },
    async changeServer(id, { name: newName, metadata, tags }) {
      const put = async (path: string, body: object): Promise<void> => {
        const headers = { 'openstack-api-version': 'compute 2.26' };
        await user.ask('compute', { method: 'PUT', path: `/servers/${id}${path}`, body, headers });
      };
      if (newName !== undefined) await put('', { server: { name: newName } });
      if (metadata !== undefined) await put('/metadata', { metadata });
      if (tags !== undefined) await put('/tags', { tags });
    },
    async attach(serverId, to) {
      const body = await user.ask('compute', {
        method: 'POST',
        path: `/servers/${serverId}/os-interface`,
        body: {
          interfaceAttachment: 'portId' in to ? { port_id: to.portId } : { net_id: to.networkId },
        },
      });
      return z.object({ interfaceAttachment: attachmentSchema }).parse(body).interfaceAttachment;
    },
    async updatePort(id, change) {
      const path = `/v2.0/ports/${id}`;
      const request = { method: 'PUT', path, body: { port: change } } as const;
      const body = await user.ask('network', request);
      return z.object({ port: portSchema }).parse(body).port;
    },
    async createApplicationCredential() {
      const credential = await makeCredential(user);
      return {
        ...credential,
        revoke: async () => {
          await remove(user, 'identity', `${credentialsOf(user)}/${credential.id}`);
        },
      };
    },
    async createAccount(roles) {
      const made = {
        name: `${username}-${accounts.size}`,
        password: randomBytes(12).toString('hex'),
      };
      const { id } = await make(admin, 'identity', '/users', 'user', made);
      accounts.add(id);
      for (const role of roles) await grant(admin, project.id, id, role);
      return {
        username: made.name,
        password: made.password,
        grant: async (role) => grant(admin, project.id, id, role),
        revoke: async (role) => revoke(admin, project.id, id, role),
      };
    },
    async detach(serverId, portId) {
      const path = `/servers/${serverId}/os-interface/${portId}`;
      await user.ask('compute', { method: 'DELETE', path });
      await until(`port ${portId} is detached`, async () => {
        const now = await port(portId);
        return now === undefined || now.device_id !== serverId;
      });
    },
    async [Symbol.asyncDispose]() {
      for (const id of servers) await deleteServer(id);
      for (const id of ports) await deletePort(id);
      for (const id of networks) await removeNetwork(user, id);
      for (const id of accounts) await remove(admin, 'identity', `/users/${id}`);
      await remove(admin, 'identity', `/projects/${project.id}`);
    },
  };
}

const credentialSchema = z.object({
  application_credential: z.object({ id: z.string(), name: z.string(), secret: z.string() }),
});

function credentialsOf({ userId }: OpenstackUser): string {
  return `/users/${userId}/application_credentials`;
}

async function makeCredential(user: OpenstackUser) {
  const name = `credential-${randomBytes(3).toString('hex')}`;
  // Named: by default Keystone also demands each implied role, which it may miss under load.
  const body = { application_credential: { name, roles: [{ name: 'member' }] } };
  const answer = await user.ask('identity', { method: 'POST', path: credentialsOf(user), body });
  return credentialSchema.parse(answer).application_credential;
}
