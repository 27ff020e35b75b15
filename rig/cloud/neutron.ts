import * as z from 'zod';
import { bodyAs } from './body.ts';
import { type Identity, maySee, type Session } from './identity.ts';
import type { Network, Networks, Subnet } from './networks.ts';
import { type NeutronList, neutronList, selected } from './neutron-lists.ts';
import { networkWire, portWire, subnetWire } from './neutron-wire.ts';
import type { Port, Ports } from './ports.ts';
import { Refusal } from './refusal.ts';
import type { Reply, Route, ServedRequest } from './route.ts';

export interface NeutronWorld {
  readonly identity: Identity;
  readonly networks: Networks;
  readonly ports: Ports;
  /** `pagination_max_limit`: the server pages by itself. */
  readonly maxLimit: number | undefined;
}

const networkBody = z.object({
  network: z.strictObject({
    name: z.string().optional(),
    mtu: z.number().int().optional(),
    shared: z.boolean().optional(),
  }),
});
const subnetBody = z.object({
  subnet: z.strictObject({
    network_id: z.string(),
    cidr: z.string(),
    ip_version: z.union([z.literal(4), z.literal(6)]),
    name: z.string().optional(),
    gateway_ip: z.string().nullish(),
    host_routes: z.array(z.object({ destination: z.string(), nexthop: z.string() })).optional(),
  }),
});
const fixedIpsBody = z
  .array(z.object({ subnet_id: z.string().optional(), ip_address: z.string().optional() }))
  .optional();
const portBody = z.object({
  port: z.strictObject({
    network_id: z.string(),
    name: z.string().optional(),
    mac_address: z.string().optional(),
    fixed_ips: fixedIpsBody,
  }),
});
const portChange = z.object({
  port: z.strictObject({
    name: z.string().optional(),
    device_id: z.string().optional(),
    admin_state_up: z.boolean().optional(),
    fixed_ips: fixedIpsBody,
  }),
});

function seesNetwork(session: Session, network: Network): boolean {
  return network.shared || maySee(session, network);
}

/** Neutron v2.0: what a tenant does with networks, subnets and ports. */
export function neutronRoutes(world: NeutronWorld): Route[] {
  const { identity, networks, ports, maxLimit } = world;
  const service = 'neutron';
  const portList: NeutronList<Port> = {
    collection: 'ports',
    filters: {
      device_id: (port) => port.deviceId,
      network_id: (port) => port.networkId,
      mac_address: (port) => port.macAddress,
      project_id: (port) => port.projectId,
      fixed_ips: (port) => port.fixedIps.map((ip) => `ip_address=${ip.ipAddress}`),
    },
    idOf: (port) => port.id,
    wire: portWire,
    maxLimit,
    notFound: (id) => new Refusal(404, 'PortNotFound', `Port ${id} could not be found.`),
  };
  const subnetList: NeutronList<Subnet> = {
    collection: 'subnets',
    filters: {
      id: (subnet) => subnet.id,
      name: (subnet) => subnet.name,
      project_id: (subnet) => subnet.projectId,
    },
    idOf: (subnet) => subnet.id,
    wire: subnetWire,
    maxLimit,
    notFound: (id) => new Refusal(404, 'SubnetNotFound', `Subnet ${id} could not be found.`),
  };

  const networkList: NeutronList<Network> = {
    collection: 'networks',
    filters: { id: (network) => network.id },
    idOf: (network) => network.id,
    wire: (network) => networkWire(network, subnetIdsOf(network)),
    maxLimit,
    notFound: (id) => new Refusal(404, 'NetworkNotFound', `Network ${id} could not be found.`),
  };

  function subnetIdsOf({ id }: Network): readonly string[] {
    return networks.subnetsOf(id).map((subnet) => subnet.id);
  }

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
      handle: (request) => handle(request, identity.sessionOf(request.headers['x-auth-token'])),
    };
  }

  function listedPorts({ query }: ServedRequest, session: Session): readonly Port[] {
    const devices = new Set(query.getAll('device_id'));
    const candidates = devices.size === 0 ? ports.all() : [...devices].flatMap(attachedTo);
    return candidates.filter((port) => maySee(session, port));
  }

  function attachedTo(deviceId: string): readonly Port[] {
    return deviceId === ''
      ? ports.all().filter((port) => port.deviceId === '')
      : ports.of(deviceId);
  }

  function networkOf(id: string | undefined, session: Session): Network {
    const network = networks.network(id ?? '');
    if (seesNetwork(session, network)) return network;
    throw networkList.notFound(network.id);
  }

  function subnetOf(id: string | undefined, session: Session): Subnet {
    const subnet = networks.subnet(id ?? '');
    if (seesSubnet(session, subnet)) return subnet;
    throw subnetList.notFound(subnet.id);
  }

  function portOf(id: string | undefined, session: Session): Port {
    const port = ports.port(id ?? '');
    if (maySee(session, port)) return port;
    throw portList.notFound(port.id);
  }

  function seesSubnet(session: Session, subnet: Subnet): boolean {
    return maySee(session, subnet) || networks.network(subnet.networkId).shared;
  }

  return [
    {
      service,
      method: 'GET',
      path: '/',
      handle: ({ origin, target }) => versions(origin + target),
    },
    route('POST', '/v2.0/networks', ({ body }, { project, isAdmin }) => {
      const { network } = bodyAs(networkBody, body, 'HTTPBadRequest');
      if (network.shared === true && !isAdmin) throw sharing;
      refuseMtu(network.mtu);
      const made = networks.createNetwork({ projectId: project.id, ...network });
      return { status: 201, body: { network: networkWire(made, []) } };
    }),
    route('GET', '/v2.0/networks/{id}', ({ params }, session) => {
      const network = networkOf(params['id'], session);
      return { status: 200, body: { network: networkWire(network, subnetIdsOf(network)) } };
    }),
    route(
      'GET',
      '/v2.0/networks',
      (request, session) => {
        const visible = networks.all().filter((network) => seesNetwork(session, network));
        return { status: 200, body: neutronList(networkList, visible, request) };
      },
      ['id'],
    ),
    route('DELETE', '/v2.0/networks/{id}', ({ params }, session) => {
      const network = networkOf(params['id'], session);
      refuseInUse(network, ports.onNetwork(network.id));
      networks.deleteNetwork(network.id);
      return { status: 204 };
    }),
    route('POST', '/v2.0/subnets', ({ body }, session) => {
      const { subnet } = bodyAs(subnetBody, body, 'HTTPBadRequest');
      const made = networks.createSubnet({
        projectId: session.project.id,
        networkId: networkOf(subnet.network_id, session).id,
        cidr: subnet.cidr,
        name: subnet.name,
        gatewayIp: subnet.gateway_ip,
        hostRoutes: subnet.host_routes,
      });
      return { status: 201, body: { subnet: subnetWire(made) } };
    }),
    route(
      'GET',
      '/v2.0/subnets',
      (request, session) => {
        const visible = networks.subnets().filter((subnet) => seesSubnet(session, subnet));
        return { status: 200, body: neutronList(subnetList, visible, request) };
      },
      ['id', 'name', 'project_id'],
    ),
    route('GET', '/v2.0/subnets/{id}', ({ params }, session) => {
      return { status: 200, body: { subnet: subnetWire(subnetOf(params['id'], session)) } };
    }),
    route('DELETE', '/v2.0/subnets/{id}', ({ params }, session) => {
      const subnet = subnetOf(params['id'], session);
      const used = ports
        .onNetwork(subnet.networkId)
        .some((port) => port.fixedIps.some((ip) => ip.subnetId === subnet.id));
      if (used) {
        throw new Refusal(
          409,
          'SubnetInUse',
          `Unable to complete operation on subnet ${subnet.id}: One or more ports have an IP allocation from this subnet.`,
        );
      }
      networks.deleteSubnet(subnet.id);
      return { status: 204 };
    }),
    route('POST', '/v2.0/ports', ({ body }, session) => {
      const { port } = bodyAs(portBody, body, 'HTTPBadRequest');
      const fixedIps = wantedIps(port.fixed_ips);
      const made = ports.create({
        projectId: session.project.id,
        networkId: networkOf(port.network_id, session).id,
        name: port.name,
        macAddress: port.mac_address,
        ...(fixedIps === undefined ? {} : { fixedIps }),
      });
      return { status: 201, body: { port: portWire(made) } };
    }),
    route(
      'GET',
      '/v2.0/ports',
      (request, session) => ({
        status: 200,
        body: neutronList(portList, listedPorts(request, session), request),
      }),
      [
        'device_id',
        'network_id',
        'mac_address',
        'project_id',
        'fixed_ips',
        'fields',
        'limit',
        'marker',
      ],
    ),
    route(
      'GET',
      '/v2.0/ports/{id}',
      ({ params, query }, session) => ({
        status: 200,
        body: { port: selected(portWire(portOf(params['id'], session)), query) },
      }),
      ['fields'],
    ),
    route('PUT', '/v2.0/ports/{id}', ({ params, body }, session) => {
      const { port } = bodyAs(portChange, body, 'HTTPBadRequest');
      const { id } = portOf(params['id'], session);
      const { name, device_id: deviceId, admin_state_up: adminStateUp } = port;
      const fixedIps = wantedIps(port.fixed_ips);
      if (adminStateUp !== undefined) ports.enable(id, adminStateUp);
      if (fixedIps !== undefined) ports.readdress(id, fixedIps);
      const changed = ports.update(id, {
        ...(name === undefined ? {} : { name }),
        ...(deviceId === undefined ? {} : { deviceId }),
      });
      return { status: 200, body: { port: portWire(changed) } };
    }),
    route('DELETE', '/v2.0/ports/{id}', ({ params }, session) => {
      ports.delete(portOf(params['id'], session).id);
      return { status: 204 };
    }),
  ];
}

function wantedIps(wire: z.infer<typeof fixedIpsBody>) {
  return wire?.map((ip) => ({ subnetId: ip.subnet_id, ipAddress: ip.ip_address }));
}

const sharing = new Refusal(
  403,
  'PolicyNotAuthorized',
  '(rule:create_network and rule:create_network:shared) is disallowed by policy',
);

// What is left of 1,500 bytes under VXLAN, the kind of tenants' networks.
const largestMtu = 1450;

function refuseMtu(mtu: number | undefined): void {
  if (mtu === undefined || mtu <= largestMtu) return;
  const message = `Invalid input for operation: Requested MTU is too big, maximum is ${largestMtu}.`;
  throw new Refusal(400, 'InvalidInput', message);
}

function refuseInUse(network: Network, used: readonly Port[]): void {
  if (used.length === 0) return;
  const ids = used.map((port) => port.id).join(',');
  throw new Refusal(
    409,
    'NetworkInUse',
    `Unable to complete operation on network ${network.id}. There are one or more ports still in use on the network, id for these ports is: ${ids}.`,
  );
}

function versions(base: string): Reply {
  const links = [{ rel: 'self', href: `${base}v2.0/` }];
  return { status: 200, body: { versions: [{ id: 'v2.0', status: 'CURRENT', links }] } };
}
