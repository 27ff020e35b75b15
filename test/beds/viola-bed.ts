import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import { identities } from '../../rig/chain/identities.ts';
import { createAll } from '../../rig/chain/manifests.ts';
import { crdDefinitions } from '../../src/api/crd/definition.ts';
import { labels, namespaces } from '../../src/api/names.ts';
import {
  type HeldNodes,
  heldNodes,
  nodeConfigsPath,
  type PostAnswer,
} from '../../src/api/node-configs-http.ts';
import type { HttpServer } from '../../src/http/app.ts';
import type { Certificate } from '../../src/http/certificate.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { openTokenFile } from '../../src/http/token-file.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { Store } from '../../src/kube/cache/store.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { type Secret, secrets } from '../../src/kube/core-resources.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createHealth } from '../../src/process/health.ts';
import { createLogger } from '../../src/process/log.ts';
import { systemClock, systemRandom } from '../../src/time/clock.ts';
import { AnswerCache } from '../../src/viola/answer-cache.ts';
import { Clusters } from '../../src/viola/clusters.ts';
import { nodeConfigs } from '../../src/viola/node-config.ts';
import { serveViola } from '../../src/viola/routes.ts';
import { about } from './about.ts';

export interface BedOptions {
  readonly acceptUnfenced?: boolean;
  readonly takeOver?: boolean;
  /** Its certificate; without one it serves plain HTTP. */
  readonly tls?: Certificate;
}

export interface CallOptions {
  readonly token?: string;
  readonly provider?: string;
  readonly prefer?: string;
}

export const namespace = namespaces.system;
/** Where the Secrets of business clusters lie. */
export const registrations = namespaces.registrations;
/** Viola itself in the management cluster, and the identity of its registering Secrets in a business cluster. */
export const { viola: reader, writer } = identities;
const log = createLogger({ part: 'test', level: 'silent' });

/**
 * Viola over one embedded API server that is management and business cluster in one; Viola has the rights of its
 * manifests. Tokens: `rw` may all, `ro` may read, `other` may use biz-2 only, `w` may
 * write to biz-1 and `d` delete there.
 */
export class ViolaBed implements AsyncDisposable {
  readonly api: ApiServer;
  readonly admin: KubeClient;
  /** Names of external writes since the last `reset`. */
  readonly writes: string[] = [];
  readonly #stop = new AbortController();
  readonly #management: KubeClient;
  readonly #directory: string;
  #serving: { readonly app: HttpServer; readonly clusters: Clusters } | undefined;

  private constructor(api: ApiServer, directory: string) {
    const clock = systemClock;
    this.api = api;
    this.admin = createKubeClient(api.access, { clock });
    this.#management = createKubeClient(api.accessAs(reader), { clock });
    this.#directory = directory;
  }

  static async start(options: BedOptions = {}): Promise<ViolaBed> {
    const api = await startApiServer({ crds: Object.values(crdDefinitions()) });
    const bed = new ViolaBed(api, await mkdtemp(join(tmpdir(), 'viola-')));
    await createAll(bed.admin, 'namespaces', 'management', 'viola', 'viola-business');
    await bed.register('biz-1', await api.kubeconfig(api.accessAs(writer)));
    await bed.#serve(options);
    return bed;
  }

  async #serve({ acceptUnfenced = false, takeOver = false, tls }: BedOptions): Promise<void> {
    const store = new Store<Secret>();
    const reflector = createReflector({
      client: this.#management,
      resource: secrets,
      namespace: registrations,
      labelSelector: labels.providerId,
      store,
      clock: systemClock,
      random: systemRandom,
    });
    void reflector.run(this.#stop.signal);
    await reflector.synced;
    const clusters = new Clusters({
      secrets: store,
      listed: () => true,
      log,
      connect: ({ access }) => createKubeClient(access, { clock: systemClock, timeoutMs: 2000 }),
    });
    const health = createHealth();
    const app = await createHttpServer({
      title: 'Viola',
      clock: systemClock,
      log,
      health,
      about,
      registry: new Registry(),
      ...(tls ? { tls } : {}),
    });
    serveViola(app, {
      clusters,
      tokens: await this.#tokens(),
      cache: new AnswerCache(systemClock, 60_000),
      clock: systemClock,
      perform: createPerform((effect, phase) => {
        if (phase === 'before') this.writes.push(effect);
      }),
      acceptUnfenced,
      takeOver,
      parallel: 4,
    });
    this.#serving = { app, clusters };
  }

  async #tokens() {
    const all = ['read', 'write', 'delete'];
    const grants = [
      { name: 'operator', sha256: sha256('rw'), providers: ['*'], verbs: all },
      { name: 'viewer', sha256: sha256('ro'), providers: ['*'], verbs: ['read'] },
      { name: 'writer', sha256: sha256('w'), providers: ['biz-1'], verbs: ['write'] },
      { name: 'remover', sha256: sha256('d'), providers: ['biz-1'], verbs: ['delete'] },
      { name: 'foreign', sha256: sha256('other'), providers: ['biz-2'], verbs: all },
    ];
    await writeFile(this.tokensFile, JSON.stringify(grants));
    return openTokenFile(this.tokensFile, { clock: systemClock, log, health: createHealth() });
  }

  get tokensFile(): string {
    return join(this.#directory, 'tokens.yaml');
  }

  get app(): HttpServer {
    if (!this.#serving) throw new Error('Viola is not serving');
    return this.#serving.app;
  }

  /** Providers that Viola knows by now. */
  get providers(): readonly string[] {
    return this.#serving?.clusters.providerIds ?? [];
  }

  async register(providerId: string, kubeconfig: string, name = providerId): Promise<void> {
    await this.admin.create(secrets, {
      metadata: { name, namespace: registrations, labels: { [labels.providerId]: providerId } },
      data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
    });
  }

  async call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { token = 'rw', provider = 'biz-1', prefer }: CallOptions = {},
    body?: unknown,
  ) {
    const answer = await this.app.inject({
      method,
      url: path.startsWith('/v1/') ? path : `${nodeConfigsPath}${path}`,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(provider ? { 'x-provider-id': provider } : {}),
        ...(prefer ? { prefer } : {}),
      },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<unknown>() };
  }

  get(path: string, options?: CallOptions) {
    return this.call('GET', path, options);
  }

  /** A page of what the business cluster holds. */
  async list(query = ''): Promise<HeldNodes> {
    return heldNodes.parse((await this.get(query)).body);
  }

  async post(body: unknown, options?: CallOptions) {
    const { body: answer, ...rest } = await this.call('POST', '', options, body);
    return { ...rest, answer: answer as PostAnswer };
  }

  /** The object as the business cluster holds it. */
  stored(name = 'worker-1') {
    return this.admin.get(nodeConfigs, { namespace, name });
  }

  /** Removes all objects, finalizers or not, and forgets the writes. */
  async reset(): Promise<void> {
    this.api.faults.clear();
    for (const { metadata } of (await this.admin.listAll(nodeConfigs)).items) {
      const ref = { namespace, name: metadata.name };
      const { uid } = await this.admin
        .patch(nodeConfigs, ref, { metadata: { finalizers: null } })
        .then((object) => object.metadata);
      if (!metadata.deletionTimestamp && uid) await this.admin.delete(nodeConfigs, ref, { uid });
    }
    this.writes.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('done'));
    await this.#serving?.app.close();
    await this.#serving?.clusters[Symbol.asyncDispose]();
    await this.#management[Symbol.asyncDispose]();
    await this.admin[Symbol.asyncDispose]();
    await this.api.close();
    await rm(this.#directory, { recursive: true });
  }
}

function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** One node as the deployed operator sends it: no id for the first NIC, fields that nobody keeps. */
export const postedNode = {
  nodeName: 'Worker_1',
  instanceId: 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
  interfaces: [
    {
      portId: 'p0',
      name: 'multinic0',
      macAddress: 'FA:16:3E:00:00:01',
      address: '10.0.0.10',
      cidr: '10.0.0.0/24',
      mtu: 1450,
      deviceId: 'ac51b2fd-e595-4395-8fb1-f21d069523c0',
      networkId: 'n0',
      subnetId: 's0',
      deviceName: 'tap0',
    },
  ],
};
