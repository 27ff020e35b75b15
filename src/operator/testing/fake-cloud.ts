import type { Cloud } from '../../openstack/cloud.ts';
import type { Found, Network, Port, Server, Subnet } from '../../openstack/resources.ts';
import { type FailureKind, RequestError, type Service } from '../../requests/request-error.ts';

type Method = Exclude<keyof Cloud, 'calls'>;

const serviceOf: Readonly<Record<Method, Service>> = {
  portsOf: 'neutron',
  port: 'neutron',
  subnet: 'neutron',
  subnetsByName: 'neutron',
  network: 'neutron',
  servers: 'nova',
  server: 'nova',
  interfacesOf: 'nova',
};

/** A cloud in memory for tests: what is in its lists is what it answers, unless a method is told to fail. */
export class FakeCloud implements Cloud {
  ports: Port[] = [];
  vms: Server[] = [];
  subnets: Subnet[] = [];
  networks: Network[] = [];
  /** Ports that lists leave out; reads by id find them. */
  readonly unlisted = new Set<string>();
  /** Ports that Neutron says 404 to, while Nova still has their NICs. */
  readonly ghosts = new Set<string>();
  readonly log: string[] = [];
  readonly #failures = new Map<string, RequestError>();

  get calls(): number {
    return this.log.length;
  }

  /** Lets a method (or one read by id, `subnet sub-a`) fail until `heal`. */
  fail(what: string, kind: FailureKind, service?: Service): void {
    const method = what.split(' ')[0] as Method;
    const details = { service: service ?? serviceOf[method], kind };
    this.#failures.set(what, new RequestError(`${method} failed (${kind})`, details));
  }

  heal(): void {
    this.#failures.clear();
  }

  async portsOf(serverIds: readonly string[]): Promise<readonly Port[]> {
    this.#called('portsOf', String(serverIds.length));
    return this.ports.filter(
      ({ id, deviceId }) => serverIds.includes(deviceId) && !this.unlisted.has(id),
    );
  }

  async port(id: string): Promise<Found<Port>> {
    const known = this.ports.filter((port) => !this.ghosts.has(port.id));
    return this.#find('port', known, id);
  }

  async subnet(id: string): Promise<Found<Subnet>> {
    return this.#find('subnet', this.subnets, id);
  }

  async subnetsByName(name: string): Promise<readonly Subnet[]> {
    this.#called('subnetsByName', name);
    return this.subnets.filter((subnet) => subnet.name === name);
  }

  async network(id: string): Promise<Found<Network>> {
    return this.#find('network', this.networks, id);
  }

  async servers(ids: readonly string[]): Promise<ReadonlyMap<string, Server>> {
    this.#called('servers', String(ids.length));
    const found = this.vms.filter(({ id }) => ids.includes(id));
    return new Map(found.map((server) => [server.id, server]));
  }

  async server(id: string): Promise<Found<Server>> {
    return this.#find('server', this.vms, id);
  }

  async interfacesOf(serverId: string) {
    const server = await this.#find('interfacesOf', this.vms, serverId);
    if (server.kind === 'notFound' || server.value.status === 'DELETED') {
      return { kind: 'notFound' } as const;
    }
    const nics = this.ports.filter(({ deviceId }) => deviceId === serverId);
    const value = nics.map(({ id, macAddress }) => ({ portId: id, macAddress }));
    return { kind: 'found', value } as const;
  }

  #called(method: Method, about: string): void {
    this.log.push(`${method} ${about}`);
    const failure = this.#failures.get(`${method} ${about}`) ?? this.#failures.get(method);
    if (failure) throw failure;
  }

  async #find<T extends { readonly id: string }>(
    method: Method,
    list: readonly T[],
    id: string,
  ): Promise<Found<T>> {
    this.#called(method, id);
    const value = list.find((one) => one.id === id);
    return value ? { kind: 'found', value } : { kind: 'notFound' };
  }
}
