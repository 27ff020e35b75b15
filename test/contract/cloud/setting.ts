import { type CloudAccess, openTenant, type Tenant } from '../../../rig/openstack/tenant.ts';
import { createEndpoint } from '../../../src/openstack/catalog.ts';
import type { Cloud } from '../../../src/openstack/cloud.ts';
import { type CloudIdentity, passwordAuth } from '../../../src/openstack/cloud-identity.ts';
import { type Clouds, createClouds } from '../../../src/openstack/clouds.ts';
import { CredentialGate } from '../../../src/openstack/credential-gate.ts';
import { neutronBase, novaBase } from '../../../src/openstack/endpoint.ts';
import { createKeystone } from '../../../src/openstack/keystone.ts';
import type { Keystone } from '../../../src/openstack/keystone-session.ts';
import { createNeutron, type Neutron } from '../../../src/openstack/neutron.ts';
import { createNova, type Nova, novaHeaders } from '../../../src/openstack/nova.ts';
import { RefreshTurns } from '../../../src/openstack/refresh-turns.ts';
import { answerFailure } from '../../../src/openstack/requests/answer-failure.ts';
import { createServiceClient } from '../../../src/openstack/requests/service-client.ts';
import { createLogger } from '../../../src/process/log.ts';
import { createCaller } from '../../../src/requests/caller.ts';
import { createTransport, type Transport } from '../../../src/requests/transport.ts';
import { systemClock, systemRandom } from '../../../src/time/clock.ts';
import type { MethodHits } from './method-hits.ts';

/** Cloud under test. */
export interface CloudUnderTest extends CloudAccess {
  readonly contrabass: {
    readonly endpoint: string;
    readonly providerId: string;
    readonly encryptKey: string;
  };
}

/** The product's readers, each created separately. */
interface Parts {
  readonly keystone: Keystone;
  readonly neutron: Neutron;
  readonly nova: Nova;
}

type TenantAccount = Parameters<typeof passwordAuth>[0];

/** A tenant with a server on a dual-stack network, and the product's clients. */
export interface Setting extends AsyncDisposable {
  readonly cloudUnderTest: CloudUnderTest;
  readonly tenant: Tenant;
  /** Second project in the same cloud. */
  readonly stranger: Tenant;
  readonly identity: CloudIdentity;
  /** The tenant's login, changed. */
  readonly as: (change: Partial<TenantAccount>) => Pick<CloudIdentity, 'auth'>;
  readonly clouds: Clouds;
  /** Shared by the tests: with token and caches as they come. */
  readonly cloud: Cloud;
  /** `net-a`: `sub-a4` (gateway, a host route) and `sub-a6`. */
  readonly netA: { readonly id: string; readonly subnet4: string; readonly subnet6: string };
  /** `net-b`: `sub-b4` without a gateway, MTU 1400. */
  readonly netB: { readonly id: string; readonly subnet: string };
  /** Booted on net-a with metadata `role=worker`. */
  readonly server: { readonly id: string; readonly name: string };
  /** A separate Cloud, without token and caches. */
  readonly freshCloud: (change?: Partial<CloudIdentity>) => Cloud;
  readonly parts: (options?: { readonly pageSize?: number }) => Parts;
  readonly signal: () => AbortSignal;
}

const log = createLogger({ part: 'contract', level: 'silent' });
const timeoutMs = 30_000;
const patienceMs = 120_000;

/** Makes the setting through the cloud's own APIs only. */
export async function createSetting(
  cloudUnderTest: CloudUnderTest,
  hits: MethodHits,
): Promise<Setting> {
  const tenant = await openTenant(cloudUnderTest, 'contract');
  const stranger = await openTenant(cloudUnderTest, 'stranger');
  const netA = await tenant.createNetwork({ name: 'net-a' });
  const subnet4 = await tenant.createSubnet({
    networkId: netA.id,
    name: 'sub-a4',
    cidr: '10.10.0.0/16',
    hostRoutes: [{ destination: '192.168.0.0/16', nexthop: '10.10.0.3' }],
  });
  const subnet6 = await tenant.createSubnet({
    networkId: netA.id,
    name: 'sub-a6',
    cidr: 'fd00:10:10::/64',
  });
  const netB = await tenant.createNetwork({ name: 'net-b', mtu: 1400 });
  const subnetB = await tenant.createSubnet({
    networkId: netB.id,
    name: 'sub-b4',
    cidr: '10.20.0.0/16',
    gatewayIp: null,
  });
  const name = `${tenant.username}-worker`;
  const booted = await tenant.createServer({
    name,
    networkIds: [netA.id],
    metadata: { role: 'worker' },
  });

  const { keystoneUrl, username, password, domainName, projectId } = tenant;
  const account = { username, password, domainName, projectId };
  const as = (change: Partial<TenantAccount>) => ({
    auth: passwordAuth({ ...account, ...change }),
  });
  const identity: CloudIdentity = {
    keystoneUrl,
    auth: passwordAuth(account),
    interface: 'public',
    tls: {},
    timeoutMs,
  };
  const clouds = hits.recorded(
    'Clouds',
    createClouds({ clock: systemClock, random: systemRandom, log }),
  );
  const transport = createTransport({ clock: systemClock });
  const lifetime = new AbortController();
  let made = 0;

  function freshCloud(change: Partial<CloudIdentity> = {}): Cloud {
    made += 1;
    // A different time limit makes a different identity, and therefore a separate Cloud.
    const own = { ...identity, timeoutMs: timeoutMs + made, ...change };
    return hits.recorded('Cloud', clouds.get(own));
  }

  return {
    cloudUnderTest,
    tenant,
    stranger,
    identity,
    as,
    clouds,
    cloud: hits.recorded('Cloud', clouds.get(identity)),
    netA: { id: netA.id, subnet4: subnet4.id, subnet6: subnet6.id },
    netB: { id: netB.id, subnet: subnetB.id },
    server: { id: booted.id, name },
    freshCloud,
    parts: (options = {}) => createParts(identity, transport, lifetime.signal, hits, options),
    signal: () => AbortSignal.timeout(patienceMs),
    async [Symbol.asyncDispose]() {
      lifetime.abort();
      await clouds[Symbol.asyncDispose]();
      await transport[Symbol.asyncDispose]();
      await tenant[Symbol.asyncDispose]();
      await stranger[Symbol.asyncDispose]();
    },
  };
}

function createParts(
  identity: CloudIdentity,
  transport: Transport,
  lifetime: AbortSignal,
  hits: MethodHits,
  options: { readonly pageSize?: number },
): Parts {
  const clock = systemClock;
  const caller = createCaller({
    transport,
    clock,
    random: systemRandom,
    log,
    tls: {},
    timeoutMs,
    failureOf: answerFailure,
  });
  const keystone = createKeystone({
    identity,
    caller,
    clock,
    lifetime,
    gate: new CredentialGate(clock),
    turns: new RefreshTurns(clock),
  });
  const choice = { interface: 'public' } as const;
  const rules = { denied: () => undefined, onMoved: () => undefined };
  const network = createEndpoint({ ...choice, service: 'neutron', type: 'network' }, rules);
  const compute = createEndpoint({ ...choice, service: 'nova', type: 'compute' }, rules);
  const neutron = createServiceClient({
    service: 'neutron',
    keystone,
    caller,
    clock,
    base: (catalog) => neutronBase(network(catalog)),
  });
  const nova = createServiceClient({
    service: 'nova',
    keystone,
    caller,
    clock,
    base: (catalog) => novaBase(compute(catalog)),
    headers: novaHeaders,
  });
  return {
    keystone: hits.recorded('Keystone', keystone),
    neutron: hits.recorded('Neutron', createNeutron(neutron)),
    nova: hits.recorded('Nova', createNova(nova, { timeoutMs, ...options })),
  };
}
