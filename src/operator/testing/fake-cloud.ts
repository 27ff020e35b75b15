import type { Cloud } from '../../openstack/cloud.ts';
import type {
  Found,
  Network,
  Port,
  PortFilter,
  PortRecord,
  Server,
  ServerRecord,
  Subnet,
} from '../../openstack/resources.ts';
import { isPlugged } from '../../plan/observation.ts';
import { type FailureKind, RequestError, type Service } from '../../requests/request-error.ts';

type Method = Exclude<
  keyof Cloud,
  'calls' | 'name' | 'host' | 'projectId' | 'freshen' | 'knowsNetwork' | 'isOf'
>;

const serviceOf: Readonly<Record<Method, Service>> = {
  portsOf: 'neutron',
  port: 'neutron',
  portRecord: 'neutron',
  projectPorts: 'neutron',
  portsWithMac: 'neutron',
  subnet: 'neutron',
  subnetsByName: 'neutron',
  network: 'neutron',
  servers: 'nova',
  server: 'nova',
  projectServers: 'nova',
  serverTags: 'nova',
  wasDeleted: 'nova',
  softDeleted: 'nova',
};

/** A test server; the default project is the account's own. */
export type FakeServer = Omit<Server, 'projectId'> & {
  readonly projectId?: string;
  readonly tags?: readonly string[];
};

/**
 * An in-memory cloud as visible to one account. Lists and reads return everything that is not hidden, unless a method
 * is set to fail. Nova's address records follow the ports, unless Nova's events are on hold.
 */
export class FakeCloud implements Cloud {
  readonly name: string = 'https://keystone.test';
  host = 'keystone.test:443';
  readonly projectId: string;
  ports: Port[] = [];
  /** Servers with status DELETED return 404 by id, and are listed as deleted. */
  vms: FakeServer[] = [];
  subnets: Subnet[] = [];
  networks: Network[] = [];
  /** Ports and servers missing from lists; reads by id find them. */
  readonly unlisted = new Set<string>();
  /** Existing ports and servers that the account may not read. */
  readonly hidden = new Set<string>();
  /** Ports with `admin_state_up` false. */
  readonly disabled = new Set<string>();
  readonly log: string[] = [];
  /** `since` arguments of `freshen`. */
  readonly freshened: number[] = [];
  /** `since` arguments of `projectServers`. */
  readonly serversSince: number[] = [];
  readonly #failures = new Map<string, RequestError>();
  readonly #records = new Map<string, readonly string[] | undefined>();

  constructor(projectId = 'project-1') {
    this.projectId = projectId;
  }

  /** Ids of the account. */
  accounts: readonly string[] = ['user-1'];

  isOf(accounts: readonly string[]): boolean {
    return accounts.some((id) => this.accounts.includes(id));
  }

  knowsNetwork(ids: readonly string[]): boolean {
    return [...this.networks, ...this.subnets].some(({ id }) => ids.includes(id));
  }

  /** Only recorded, because this fake caches nothing. */
  freshen(since: number): void {
    this.freshened.push(since);
  }

  get calls(): number {
    return this.log.length;
  }

  /** Makes a method (or a read by id, `subnet sub-a`) fail until `heal`. */
  fail(what: string, kind: FailureKind, service?: Service): void {
    const method = what.split(' ')[0] as Method;
    const details = { service: service ?? serviceOf[method], kind };
    this.#failures.set(what, new RequestError(`${method} failed (${kind})`, details));
  }

  heal(): void {
    this.#failures.clear();
  }

  /** Freezes Nova's address records. */
  holdNovaEvents(): void {
    for (const { id } of this.vms) this.#records.set(id, this.#macsOf(id));
  }

  releaseNovaEvents(): void {
    this.#records.clear();
  }

  /** Empties Nova's address record, or omits the record from answers. */
  loseAddresses(serverId: string, how: 'empty' | 'missing'): void {
    this.#records.set(serverId, how === 'empty' ? [] : undefined);
  }

  async portsOf(serverIds: readonly string[]): Promise<readonly Port[]> {
    this.#called('portsOf', String(serverIds.length));
    return this.#visible(this.ports).filter(
      ({ id, deviceId }) => serverIds.includes(deviceId) && !this.unlisted.has(id),
    );
  }

  async port(id: string): Promise<Found<Port>> {
    return this.#find('port', this.#visible(this.ports), id);
  }

  async portsWithMac(macAddress: string): Promise<readonly Port[]> {
    this.#called('portsWithMac', macAddress);
    return this.#visible(this.ports).filter((port) => port.macAddress === macAddress);
  }

  async portRecord(id: string): Promise<Found<PortRecord>> {
    const found = await this.#find('portRecord', this.#visible(this.ports), id);
    if (found.kind === 'notFound') return found;
    return { kind: 'found', value: { ...found.value, adminStateUp: !this.disabled.has(id) } };
  }

  async projectPorts(filter: PortFilter): Promise<readonly Port[]> {
    this.#called('projectPorts', Object.values(filter).join());
    return this.#visible(this.ports).filter(
      (port) => port.projectId === this.projectId && isMatch(port, filter),
    );
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
    const found = this.#servers().filter(({ id }) => ids.includes(id));
    return new Map(found.map((server) => [server.id, server]));
  }

  async server(id: string): Promise<Found<ServerRecord>> {
    const found = await this.#find('server', this.#servers(), id);
    if (found.kind === 'notFound') return found;
    const macAddresses = this.#records.has(id) ? this.#records.get(id) : this.#macsOf(id);
    return { kind: 'found', value: { ...found.value, macAddresses } };
  }

  async projectServers(
    tags: readonly string[],
    since: number,
  ): Promise<ReadonlyMap<string, Server>> {
    this.serversSince.push(since);
    this.#called('projectServers', tags.join());
    const listed = this.#servers().filter(
      ({ id, projectId, status }) =>
        projectId === this.projectId && status !== 'SOFT_DELETED' && !this.unlisted.has(id),
    );
    const tagged = listed.filter(({ id }) => tags.every((tag) => this.#tagsOf(id).includes(tag)));
    return new Map(tagged.map((server) => [server.id, server]));
  }

  async serverTags(id: string): Promise<Found<readonly string[]>> {
    const found = await this.#find('serverTags', this.#servers(), id);
    return found.kind === 'found' ? { kind: 'found', value: this.#tagsOf(id) } : found;
  }

  #tagsOf(id: string): readonly string[] {
    return this.vms.find((vm) => vm.id === id)?.tags ?? [];
  }

  async wasDeleted(serverId: string): Promise<boolean> {
    this.#called('wasDeleted', serverId);
    return this.vms.some(({ id, status }) => id === serverId && status === 'DELETED');
  }

  async softDeleted(): Promise<ReadonlyMap<string, Server>> {
    this.#called('softDeleted', '');
    const soft = this.#servers().filter(({ status }) => status === 'SOFT_DELETED');
    return new Map(soft.map((server) => [server.id, server]));
  }

  #servers(): Server[] {
    const there = this.#visible(this.vms).filter(({ status }) => status !== 'DELETED');
    return there.map(({ tags: _tags, ...vm }) => ({ projectId: this.projectId, ...vm }));
  }

  /** Nova records only ports that Nova plugged, not every port with its server's id. */
  #macsOf(serverId: string): readonly string[] {
    const nics = this.ports.filter(
      (port) => port.deviceId === serverId && isPlugged(port) && port.fixedIps[0],
    );
    return nics.map(({ macAddress }) => macAddress);
  }

  #visible<T extends { readonly id: string }>(list: readonly T[]): T[] {
    return list.filter(({ id }) => !this.hidden.has(id));
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
    // Databases compare ids case-insensitively and return the stored form.
    const value = list.find((item) => item.id.toLowerCase() === id.toLowerCase());
    return value ? { kind: 'found', value } : { kind: 'notFound' };
  }
}

function isMatch({ macAddress, deviceId, fixedIps }: Port, filter: PortFilter): boolean {
  if ('macAddress' in filter) return macAddress === filter.macAddress;
  if ('serverId' in filter) return deviceId === filter.serverId;
  return fixedIps.some(({ ipAddress }) => ipAddress === filter.ipAddress);
}
