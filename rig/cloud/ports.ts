import type { Clock } from '../../src/time/clock.ts';
import { newUuid } from './ids.ts';
import type { Networks } from './networks.ts';
import { Refusal } from './refusal.ts';

export interface FixedIp {
  readonly subnetId: string;
  readonly ipAddress: string;
}

export interface Port {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly networkId: string;
  readonly macAddress: string;
  readonly status: string;
  readonly adminStateUp: boolean;
  /** '' = attached to nothing. */
  readonly deviceId: string;
  readonly deviceOwner: string;
  readonly fixedIps: readonly FixedIp[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly revision: number;
  /** Nova made it for an attach, and deletes it on detach. */
  readonly novaMade: boolean;
}

export interface NewPort {
  readonly projectId: string;
  readonly networkId: string;
  readonly name?: string | undefined;
  readonly macAddress?: string | undefined;
  readonly fixedIps?: readonly { subnetId?: string | undefined; ipAddress?: string | undefined }[];
  readonly novaMade?: boolean;
}

/** Ports with their addresses, found by id and by the server they are attached to. */
export class Ports {
  readonly #clock: Clock;
  readonly #networks: Networks;
  readonly #ports = new Map<string, Port>();
  readonly #byDevice = new Map<string, Set<string>>();
  /** `network mac`. */
  readonly #macs = new Set<string>();
  readonly #listeners: ((serverId: string) => void)[] = [];
  #made = 0;

  constructor(clock: Clock, networks: Networks) {
    this.#clock = clock;
    this.#networks = networks;
  }

  /** Tells of every change at a server's ports, as Neutron tells Nova. */
  onChange(listener: (serverId: string) => void): void {
    this.#listeners.push(listener);
  }

  create(request: NewPort): Port {
    const network = this.#networks.network(request.networkId);
    const macAddress = request.macAddress ?? this.#nextMac();
    if (this.#macs.has(`${network.id} ${macAddress}`)) {
      throw new Refusal(
        409,
        'MacAddressInUse',
        `Unable to complete operation for network ${network.id}. The mac address ${macAddress} is in use.`,
      );
    }
    const now = this.#clock.now();
    const port: Port = {
      id: newUuid(),
      name: request.name ?? '',
      projectId: request.projectId,
      networkId: network.id,
      macAddress,
      status: 'DOWN',
      adminStateUp: true,
      deviceId: '',
      deviceOwner: '',
      fixedIps: this.#addresses(request),
      createdAt: now,
      updatedAt: now,
      revision: 1,
      novaMade: request.novaMade ?? false,
    };
    this.#ports.set(port.id, port);
    this.#macs.add(`${network.id} ${macAddress}`);
    return port;
  }

  port(id: string): Port {
    const port = this.#ports.get(id.toLowerCase());
    if (port !== undefined) return port;
    throw new Refusal(404, 'PortNotFound', `Port ${id} could not be found.`);
  }

  all(): readonly Port[] {
    return [...this.#ports.values()];
  }

  of(deviceId: string): readonly Port[] {
    return [...(this.#byDevice.get(deviceId.toLowerCase()) ?? [])].map((id) => this.port(id));
  }

  onNetwork(networkId: string): readonly Port[] {
    return this.all().filter((port) => port.networkId === networkId);
  }

  /** Every change moves the revision. */
  update(
    id: string,
    change: Partial<
      Pick<Port, 'name' | 'status' | 'adminStateUp' | 'deviceId' | 'deviceOwner' | 'fixedIps'>
    >,
  ): Port {
    const before = this.port(id);
    const port = {
      ...before,
      ...change,
      updatedAt: this.#clock.now(),
      revision: before.revision + 1,
    };
    this.#ports.set(id, port);
    this.#byDevice.get(before.deviceId)?.delete(id);
    if (port.deviceId !== '') {
      const attached = this.#byDevice.get(port.deviceId) ?? new Set();
      this.#byDevice.set(port.deviceId, attached.add(id));
    }
    this.#tell(before.deviceId, port.deviceId);
    return port;
  }

  /** Takes the port's addresses and gives it these; none leaves it where it is, without an address. */
  readdress(
    id: string,
    wanted: readonly { subnetId?: string | undefined; ipAddress?: string | undefined }[],
  ): Port {
    const port = this.port(id);
    this.#release(port);
    return this.update(port.id, {
      fixedIps: wanted.map((one) => this.#address(port.networkId, one)),
    });
  }

  /** Bound to a server: ACTIVE at once, as with a mechanism driver that needs no agent. */
  bind(id: string, serverId: string): Port {
    return this.update(id, {
      deviceId: serverId,
      deviceOwner: 'compute:nova',
      status: 'ACTIVE',
    });
  }

  /** Switches a port on or off; a bound port is DOWN while it is off. */
  enable(id: string, adminStateUp: boolean): Port {
    const { deviceId } = this.port(id);
    const status = adminStateUp && deviceId !== '' ? 'ACTIVE' : 'DOWN';
    return this.update(id, { adminStateUp, status });
  }

  /** What a detach does: a port that the tenant made stays, attached to nothing; one that Nova made goes. */
  release(id: string): void {
    if (this.port(id).novaMade) this.delete(id);
    else this.update(id, { deviceId: '', deviceOwner: '', status: 'DOWN' });
  }

  delete(id: string): void {
    const port = this.port(id);
    this.#release(port);
    this.#macs.delete(`${port.networkId} ${port.macAddress}`);
    this.#byDevice.get(port.deviceId)?.delete(port.id);
    this.#ports.delete(port.id);
    this.#tell(port.deviceId);
  }

  #release({ fixedIps }: Port): void {
    for (const ip of fixedIps) this.#networks.subnet(ip.subnetId).pool.release(ip.ipAddress);
  }

  #tell(...serverIds: readonly string[]): void {
    for (const id of new Set(serverIds.filter((one) => one !== ''))) {
      for (const listener of this.#listeners) listener(id);
    }
  }

  #addresses(request: NewPort): FixedIp[] {
    if (request.fixedIps !== undefined) {
      return request.fixedIps.map((wanted) => this.#address(request.networkId, wanted));
    }
    // Neutron's default: one address of each family that the network has.
    const subnets = this.#networks.subnetsOf(request.networkId);
    const firsts = [4, 6].map((version) =>
      subnets.find((subnet) => subnet.pool.range.version === version),
    );
    return firsts
      .filter((subnet) => subnet !== undefined)
      .map((subnet) => this.#address(request.networkId, { subnetId: subnet.id }));
  }

  #address(
    networkId: string,
    wanted: { subnetId?: string | undefined; ipAddress?: string | undefined },
  ): FixedIp {
    const { subnetId, ipAddress } = wanted;
    if (ipAddress === undefined) {
      const subnet = this.#networks.subnet(subnetId ?? '');
      const free = subnet.pool.takeAny();
      if (free !== undefined) return { subnetId: subnet.id, ipAddress: free };
      const message = `No more IP addresses available on network ${networkId}.`;
      throw new Refusal(409, 'IpAddressGenerationFailure', message);
    }
    const subnet = this.#networks.subnetFor(networkId, ipAddress);
    if (subnet.pool.has(ipAddress)) {
      throw new Refusal(
        409,
        'IpAddressAlreadyAllocated',
        `IP address ${ipAddress} already allocated in subnet ${subnet.id}`,
      );
    }
    subnet.pool.take(ipAddress);
    return { subnetId: subnet.id, ipAddress };
  }

  #nextMac(): string {
    this.#made += 1;
    const tail = this.#made.toString(16).padStart(6, '0');
    return `fa:16:3e:${tail.slice(0, 2)}:${tail.slice(2, 4)}:${tail.slice(4)}`;
  }
}
