import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import type { Effect } from '../../src/api/effects.ts';
import { metricTable } from '../../src/api/metrics.ts';
import type { ApplyOptions, KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { namespaces, type Secret, secrets } from '../../src/kube/core-resources.ts';
import { createKeptSecrets } from '../../src/operator/viola-access/kept-secret.ts';
import { createTlsKeeper } from '../../src/operator/viola-access/tls.ts';
import { createTokenKeeper } from '../../src/operator/viola-access/tokens.ts';
import { createPerform, type Perform } from '../../src/process/effects.ts';
import { createLogger } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';

/** What a leader says and writes, and when it dies. */
export interface Leader {
  readonly tls: ReturnType<typeof createTlsKeeper>;
  readonly tokens: ReturnType<typeof createTokenKeeper>;
  readonly effects: string[];
}

interface LeaderOptions {
  readonly clock?: Clock;
  readonly deathAt?: number;
  readonly gate?: () => Promise<void>;
  /** What something on the way makes of each object that is written. */
  readonly changes?: (secret: Secret) => Secret;
}

/** Lets the first ones wait until so many are there; who comes later goes through. */
export function gateFor(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = count;
  return async () => {
    missing -= 1;
    if (missing <= 0) resolve();
    await promise;
  };
}

/** An embedded API server with the Secrets of the access to Viola, whoever makes them. */
export class AccessBed implements AsyncDisposable {
  readonly api: ApiServer;
  readonly client: KubeClient;
  readonly clock;
  readonly metrics = createMetrics(metricTable);
  readonly lines: string[] = [];
  readonly log = createLogger({
    part: 'test',
    level: 'debug',
    destination: { write: (line: string) => void this.lines.push(line) },
  });
  readonly signal = new AbortController().signal;
  namespace = 'none';
  #namespaces = 0;

  private constructor(api: ApiServer) {
    this.api = api;
    this.client = createKubeClient(api.access, { clock: systemClock });
    this.clock = createFakeClock();
  }

  static async start(): Promise<AccessBed> {
    return new AccessBed(await startApiServer());
  }

  /** An empty namespace, to which everything is about from now on. */
  async empty(): Promise<void> {
    this.namespace = `access-${++this.#namespaces}`;
    this.lines.length = 0;
    await this.client.create(namespaces, { metadata: { name: this.namespace } });
  }

  /** A process that leads; it dies at the n-th moment before or after a write, and waits for `gate` before each. */
  leader(options: LeaderOptions = {}): Leader {
    const { clock = this.clock, deathAt = Infinity, gate, changes } = options;
    const effects: string[] = [];
    const tellingly = createPerform<Effect>((name, phase) => {
      if (effects.length >= deathAt) throw new Error('killed');
      effects.push(`${phase} ${name}`);
    });
    const perform: Perform<Effect> = async (name, write) => {
      await gate?.();
      return tellingly(name, write);
    };
    const { namespace, log, metrics } = this;
    const client = changes ? changing(this.client, changes) : this.client;
    const kept = createKeptSecrets({ client, namespace, perform });
    const deps = { secrets: kept, namespace, clock, log, metrics };
    return { tls: createTlsKeeper(deps), tokens: createTokenKeeper(deps), effects };
  }

  async secret(name: string): Promise<Secret | undefined> {
    return this.client.find(secrets, { namespace: this.namespace, name });
  }

  /** What a Secret holds, as text. */
  async data(name: string): Promise<Record<string, string>> {
    const data = (await this.secret(name))?.data ?? {};
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** Overwrites keys as `kubectl edit` does; null takes one away. */
  async edit(name: string, data: Readonly<Record<string, string | null>>): Promise<void> {
    const encoded = Object.entries(data).map(([key, text]) => [
      key,
      text === null ? null : Buffer.from(text).toString('base64'),
    ]);
    const patch = { data: Object.fromEntries(encoded) as unknown };
    await this.client.patch(secrets, { namespace: this.namespace, name }, patch);
  }

  async delete(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.client.delete(secrets, { namespace: this.namespace, name });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.api.close();
  }
}

function changing(
  client: KubeClient,
  change: (secret: Secret) => Secret,
): Pick<KubeClient, 'find' | 'apply'> {
  const apply = async (_: unknown, object: Secret, options: ApplyOptions) =>
    change(await client.apply(secrets, object, options));
  return {
    find: async (resource, ref, options) => client.find(resource, ref, options),
    apply: apply as unknown as KubeClient['apply'],
  };
}
