import { expect } from 'vitest';
import { loopbackCertificate } from '../../../../rig/apiserver/http/certificate.ts';
import {
  type FaultProxy,
  type FaultProxyOptions,
  startFaultProxy,
} from '../../../../rig/fault-proxy/fault-proxy.ts';
import type { WirePort } from '../../../../rig/openstack/tenant.ts';
import { findCondition } from '../../../../src/api/condition.ts';
import { namespaces } from '../../../../src/api/names.ts';
import type { OpenstackConfigSpec } from '../../../../src/api/openstackconfig.ts';
import { secrets } from '../../../../src/kube/core-resources.ts';
import { systemClock } from '../../../../src/time/clock.ts';
import { type FieldsFixture, openFieldsFixture, provider } from './fixture.ts';

export const generous = { timeout: 90_000, interval: 500 };
/** The two subnets in the network. */
export const cidrs = { first: '10.77.0.0/24', second: '10.78.0.0/24' } as const;

export interface Machine {
  readonly id: string;
  readonly name: string;
  /** Ports in the order of the subnets at boot. */
  readonly ports: readonly WirePort[];
}

/** The fixture with a network of two subnets, and helpers for all field tests. */
export class Place {
  readonly bed: FieldsFixture;
  readonly networkId: string;
  readonly first: string;
  readonly second: string;
  readonly #stack: AsyncDisposableStack;
  #booted = 0;

  private constructor(bed: FieldsFixture, network: readonly string[], stack: AsyncDisposableStack) {
    this.bed = bed;
    [this.networkId = '', this.first = '', this.second = ''] = network;
    this.#stack = stack;
  }

  static async open(): Promise<Place> {
    await using stack = new AsyncDisposableStack();
    const bed = stack.use(
      await openFieldsFixture({
        DEFAULT_K8S_PROVIDER_ID: provider,
        INSECURE_TLS_ENDPOINTS: 'https://127.0.0.1:*',
      }),
    );
    const { id: networkId } = await bed.tenant.createNetwork({ name: 'data' });
    const subnet = async (name: string, cidr: string) =>
      (await bed.tenant.createSubnet({ networkId, name, cidr })).id;
    const ids = [await subnet('k8s-subnet', cidrs.first), await subnet('storage', cidrs.second)];
    return new Place(bed, [networkId, ...ids], stack.move());
  }

  /** Boots a server with a port in each of the subnets. */
  async boot(
    subnets: readonly string[] = [this.first],
    { name = `fields-${this.#booted++}`, metadata = {} } = {},
  ): Promise<Machine> {
    const ports: WirePort[] = [];
    for (const subnetId of subnets) ports.push(await this.portIn(subnetId));
    const portIds = ports.map(({ id }) => id);
    const { id } = await this.bed.tenant.createServer({ name, portIds, metadata });
    return { id, name, ports };
  }

  portIn(subnetId: string): Promise<WirePort> {
    const { networkId } = this;
    return this.bed.tenant.createPort({ networkId, fixedIps: [{ subnetId }] });
  }

  /** Attaches a new port in the subnet, as people do. */
  async attach({ id }: Machine, subnetId = this.first): Promise<WirePort> {
    const port = await this.portIn(subnetId);
    await this.bed.tenant.attach(id, { portId: port.id });
    return port;
  }

  /** The tenant's account through Contrabass, and defaults for fields outside the test's subject. */
  usual(settings: OpenstackConfigSpec['settings'] = {}): OpenstackConfigSpec {
    const { contrabass, tenant } = this.bed;
    return {
      subnetIDs: [this.first],
      credentials: {
        openstackProviderID: contrabass.providerId,
        k8sProviderID: provider,
        projectID: tenant.projectId,
      },
      settings: { portBaseline: 'All', ...settings },
    };
  }

  async cidrsOf({ id }: Machine): Promise<(string | undefined)[] | undefined> {
    const object = await this.bed.nodeConfig(id);
    return object?.spec?.interfaces?.map(({ cidr }) => cidr).toSorted();
  }

  /** Expects a NIC for each of these CIDRs in the business cluster. */
  async untilHolds(server: Machine, ...wanted: readonly string[]): Promise<void> {
    await expect.poll(() => this.cidrsOf(server), generous).toEqual(wanted);
  }

  /** Expects exactly the NICs for these server ports in the business cluster. */
  async untilHasPorts({ id }: Machine, ...wanted: readonly string[]): Promise<void> {
    const held = async () => (await this.bed.nodeConfig(id))?.spec?.interfaces ?? [];
    const ports = async () => new Set((await held()).map(({ portId }) => portId));
    await expect.poll(ports, generous).toEqual(new Set(wanted));
  }

  /** The condition for the current generation. */
  async conditionOf(name: string, type = 'Ready') {
    const object = await this.bed.find(name);
    const condition = findCondition(object?.status?.conditions, type);
    const { generation } = object?.metadata ?? {};
    return condition?.observedGeneration === generation ? condition : undefined;
  }

  async untilReady(name: string): Promise<void> {
    await expect.poll(() => this.conditionOf(name), generous).toMatchObject({ status: 'True' });
  }

  async untilRefused(name: string, reason: string, message = ''): Promise<void> {
    const said: unknown = expect.stringContaining(message);
    const wanted = { status: 'False', reason, message: said };
    await expect.poll(() => this.conditionOf(name), generous).toMatchObject(wanted);
  }

  /** Starts a proxy before a service and resolves to the proxy's URL; the proxy counts requests. */
  async tap(
    service: string,
    options: Pick<FaultProxyOptions, 'certificate'> = {},
  ): Promise<{ readonly url: string; readonly proxy: FaultProxy }> {
    const { origin, pathname } = new URL(service);
    const proxy = this.#stack.use(await startFaultProxy({ target: origin, ...options }));
    return { url: proxy.url + pathname.replace(/\/$/, ''), proxy };
  }

  /** The same with an untrusted certificate. */
  async selfSigned(service: string): Promise<string> {
    const certificate = loopbackCertificate(systemClock.now());
    return (await this.tap(service, { certificate })).url;
  }

  async keepSecret(name: string, key: string, text: string): Promise<void> {
    const metadata = { name, namespace: namespaces.system };
    const object = { metadata, data: { [key]: Buffer.from(text).toString('base64') } };
    const author = { fieldManager: 'people', force: true };
    await this.bed.management.apply(secrets, object, author);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
