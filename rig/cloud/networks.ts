import type { Clock } from '../../src/time/clock.ts';
import { AddressPool, addressOf, contains, overlaps, rangeOf } from './addresses.ts';
import { newUuid } from './ids.ts';
import { Refusal } from './refusal.ts';

export interface Network {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly mtu: number;
  /** Every project sees it and makes ports on it. */
  readonly shared: boolean;
  readonly createdAt: Date;
}

export interface Subnet {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly networkId: string;
  readonly cidr: string;
  readonly gatewayIp: string | null;
  readonly hostRoutes: readonly { readonly destination: string; readonly nexthop: string }[];
  readonly createdAt: Date;
  readonly pool: AddressPool;
}

export interface NewNetwork {
  readonly projectId: string;
  readonly name?: string | undefined;
  readonly mtu?: number | undefined;
  readonly shared?: boolean | undefined;
}

export interface NewSubnet {
  readonly projectId: string;
  readonly networkId: string;
  readonly cidr: string;
  readonly name?: string | undefined;
  /** Missing: the first address; null: none. */
  readonly gatewayIp?: string | null | undefined;
  readonly hostRoutes?: Subnet['hostRoutes'] | undefined;
}

// What is left of 1,500 bytes under VXLAN, the default of tenant networks.
const defaultMtu = 1450;

/** Networks and their subnets. */
export class Networks {
  readonly #clock: Clock;
  readonly #networks = new Map<string, Network>();
  readonly #subnets = new Map<string, Subnet>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  createNetwork(request: NewNetwork): Network {
    const { projectId, name = '', mtu = defaultMtu, shared = false } = request;
    const network = { id: newUuid(), name, projectId, mtu, shared, createdAt: this.#clock.now() };
    this.#networks.set(network.id, network);
    return network;
  }

  createSubnet(request: NewSubnet): Subnet {
    const { networkId, cidr } = request;
    this.network(networkId);
    const range = rangeOf(cidr);
    if (this.subnetsOf(networkId).some((other) => overlaps(other.pool.range, range))) {
      throw new Refusal(
        400,
        'InvalidInput',
        `Invalid input for operation: Requested subnet with cidr: ${cidr} for network: ${networkId} overlaps with another subnet.`,
      );
    }
    const pool = new AddressPool(cidr);
    // Of IPv6 Neutron takes the subnet's own address, which is the routers' anycast address.
    const usual = range.version === 4 ? range.first + 1n : range.first;
    const gatewayIp =
      request.gatewayIp === undefined ? addressOf(range.version, usual) : request.gatewayIp;
    if (gatewayIp !== null) pool.take(gatewayIp);
    const subnet: Subnet = {
      id: newUuid(),
      name: request.name ?? '',
      projectId: request.projectId,
      networkId,
      cidr,
      gatewayIp,
      hostRoutes: request.hostRoutes ?? [],
      createdAt: this.#clock.now(),
      pool,
    };
    this.#subnets.set(subnet.id, subnet);
    return subnet;
  }

  network(id: string): Network {
    const network = this.#networks.get(id.toLowerCase());
    if (network !== undefined) return network;
    throw new Refusal(404, 'NetworkNotFound', `Network ${id} could not be found.`);
  }

  subnet(id: string): Subnet {
    const subnet = this.#subnets.get(id.toLowerCase());
    if (subnet !== undefined) return subnet;
    throw new Refusal(404, 'SubnetNotFound', `Subnet ${id} could not be found.`);
  }

  all(): readonly Network[] {
    return [...this.#networks.values()];
  }

  subnets(): readonly Subnet[] {
    return [...this.#subnets.values()];
  }

  subnetsOf(networkId: string): readonly Subnet[] {
    return this.subnets().filter((subnet) => subnet.networkId === networkId);
  }

  /** The subnet of a network that an address belongs to. */
  subnetFor(networkId: string, ip: string): Subnet {
    const match = this.subnetsOf(networkId).find((subnet) => contains(subnet.pool.range, ip));
    if (match !== undefined) return match;
    throw new Refusal(
      400,
      'InvalidIpForNetwork',
      `IP address ${ip} is not a valid IP for any of the subnets on the specified network.`,
    );
  }

  /** Removes the network with its subnets; that no port is on it is the caller's to know. */
  deleteNetwork(id: string): void {
    for (const subnet of this.subnetsOf(id)) this.#subnets.delete(subnet.id);
    this.#networks.delete(id);
  }

  deleteSubnet(id: string): void {
    this.#subnets.delete(id);
  }
}
