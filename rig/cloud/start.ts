import type { Server } from 'node:http';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { contrabassRoutes, type KnownProvider, type KnownRabbit } from './contrabass.ts';
import { type Controls, controlRoutes, createControls } from './controls.ts';
import { Failures } from './failures.ts';
import { glanceRoutes } from './glance.ts';
import { type AdminAccount, Identity } from './identity.ts';
import { newUuid } from './ids.ts';
import { InfoCache } from './info-cache.ts';
import { keystoneRoutes } from './keystone.ts';
import { listen, prefixes } from './listener.ts';
import { Networks } from './networks.ts';
import { neutronRoutes } from './neutron.ts';
import { novaRoutes } from './nova.ts';
import { Ports } from './ports.ts';
import { Routes } from './route.ts';
import { Servers } from './servers.ts';

export interface CloudOptions {
  /** 0, the default, takes any free one. */
  readonly port?: number;
  /** The key of Contrabass' passwords: 16, 24 or 32 bytes. */
  readonly encryptKey: string;
  readonly providerId?: string;
  readonly admin?: AdminAccount;
  readonly clock?: Clock;
  readonly latencyMs?: number;
  readonly tokenLifetimeMs?: number;
  /** How long a boot and a detach go on behind their answer. */
  readonly workMs?: number;
  /** Neutron's `pagination_max_limit`; missing: no limit, as by default. */
  readonly maxLimit?: number;
  /** The message queue that Contrabass names; nobody has to be there. */
  readonly rabbit?: KnownRabbit | undefined;
}

/** A running Contrabass, by itself or as part of a simulated cloud. */
export interface RunningContrabass extends AsyncDisposable {
  readonly port: number;
  /** The base URL of Contrabass. */
  readonly contrabassUrl: string;
  readonly providerId: string;
  readonly encryptKey: string;
  readonly failures: Failures;
}

/** A running simulated cloud. */
export interface RunningCloud extends RunningContrabass {
  readonly keystoneUrl: string;
  readonly neutronUrl: string;
  readonly novaUrl: string;
  readonly controlUrl: string;
  readonly admin: AdminAccount;
  readonly controls: Controls;
  readonly routes: Routes;
  /** Requests that arrived, by `service METHOD path`. */
  readonly requests: ReadonlyMap<string, number>;
}

export interface ContrabassOptions {
  readonly port?: number;
  readonly encryptKey: string;
  readonly providerId?: string;
  readonly keystoneUrl: string;
  readonly admin: AdminAccount;
  /** The message queue that it names. */
  readonly rabbit?: KnownRabbit;
}

/** The account that both the simulated and the real stack of this project are made with. */
export const defaultAdmin: AdminAccount = {
  username: 'admin',
  password: 'admin',
  projectName: 'admin',
  domainName: 'Default',
};
export const defaultProviderId = 'rig-openstack';
const defaultTokenLifetimeMs = 3_600_000;
const defaultWorkMs = 50;

/** Starts Contrabass, Keystone, Neutron, Nova and Glance in memory, all behind one loopback port. */
export async function startCloud(options: CloudOptions): Promise<RunningCloud> {
  const {
    clock = systemClock,
    admin = defaultAdmin,
    providerId = defaultProviderId,
    encryptKey,
  } = options;
  const lifetime = new AbortController();
  const failures = new Failures();
  const tokenLifetimeMs = options.tokenLifetimeMs ?? defaultTokenLifetimeMs;
  const identity = new Identity({ clock, admin, tokenLifetimeMs });
  const networks = new Networks(clock);
  const ports = new Ports(clock, networks);
  const workMs = options.workMs ?? defaultWorkMs;
  const work = { clock, ports, workMs, lifetime: lifetime.signal };
  const infoCache = new InfoCache({ ...work, networks });
  const servers = new Servers({ ...work, infoCache });
  let latencyMs = options.latencyMs ?? 0;
  const world = { identity, networks, ports, servers, infoCache, failures, admin };
  const setLatency = (ms: number): void => {
    latencyMs = ms;
  };
  const controls = createControls({ ...world, setLatency });
  const routes = new Routes([
    ...contrabassRoutes(
      (origin) => ({
        ...provider(providerId, origin + prefixes.keystone, admin),
        rabbit: options.rabbit,
      }),
      encryptKey,
    ),
    ...keystoneRoutes(identity, (origin) => ({
      identity: `${origin}${prefixes.keystone}/v3`,
      network: origin + prefixes.neutron,
      compute: `${origin}${prefixes.nova}/v2.1`,
      image: origin + prefixes.glance,
    })),
    ...neutronRoutes({ ...world, maxLimit: options.maxLimit }),
    ...novaRoutes({ ...world, flavor: { id: newUuid(), name: 'm1.fake' } }),
    ...glanceRoutes(identity, { id: newUuid(), name: 'fake' }),
    ...controlRoutes(controls),
  ]);
  const requests = new Map<string, number>();
  const { server, port } = await listen({
    routes,
    failures,
    clock,
    latencyMs: () => latencyMs,
    port: options.port ?? 0,
    lifetime: lifetime.signal,
    onRequest: (service, method, path) => {
      const key = `${service} ${method} ${path}`;
      requests.set(key, (requests.get(key) ?? 0) + 1);
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    port,
    contrabassUrl: origin + prefixes.contrabass,
    keystoneUrl: origin + prefixes.keystone,
    neutronUrl: origin + prefixes.neutron,
    novaUrl: `${origin}${prefixes.nova}/v2.1`,
    controlUrl: origin + prefixes.control,
    providerId,
    encryptKey,
    admin,
    controls,
    failures,
    routes,
    requests,
    [Symbol.asyncDispose]: async () => close(server, lifetime),
  };
}

/** Starts Contrabass alone, in front of a Keystone that somebody else runs. */
export async function startContrabass(options: ContrabassOptions): Promise<RunningContrabass> {
  const { providerId = defaultProviderId, encryptKey, keystoneUrl, admin, rabbit } = options;
  const lifetime = new AbortController();
  const failures = new Failures();
  const known = { ...provider(providerId, keystoneUrl, admin), rabbit };
  const { server, port } = await listen({
    routes: new Routes(contrabassRoutes(() => known, encryptKey)),
    failures,
    clock: systemClock,
    latencyMs: () => 0,
    port: options.port ?? 0,
    lifetime: lifetime.signal,
    onRequest: () => undefined,
  });
  return {
    port,
    contrabassUrl: `http://127.0.0.1:${port}${prefixes.contrabass}`,
    providerId,
    encryptKey,
    failures,
    [Symbol.asyncDispose]: async () => close(server, lifetime),
  };
}

function provider(id: string, keystoneUrl: string, admin: AdminAccount): KnownProvider {
  const { username, password, domainName } = admin;
  return { id, keystoneUrl, username, password, domainName };
}

async function close(server: Server, lifetime: AbortController): Promise<void> {
  lifetime.abort(new Error('the cloud was closed'));
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
