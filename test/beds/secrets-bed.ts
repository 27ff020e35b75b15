import { type ApiServer, startApiServer } from '../../rig/apiserver/server.ts';
import type { Effect } from '../../src/api/effects.ts';
import type { ClusterAccess } from '../../src/kube/access/access.ts';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { namespaces, type Secret, secrets } from '../../src/kube/core-resources.ts';
import type { ObjectMeta } from '../../src/kube/object.ts';
import { BrokerSecrets } from '../../src/operator/broker-secret/broker-secrets.ts';
import { createPerform } from '../../src/process/effects.ts';
import { createLogger } from '../../src/process/log.ts';
import { systemClock } from '../../src/time/clock.ts';
import { createFakeClock } from '../../src/time/fake-clock.ts';

interface LeadOptions {
  readonly isOn?: boolean;
  /** Happens between our reading and our writing, once. */
  readonly beforeWrite?: (signal: AbortSignal) => Promise<void>;
}

/** An embedded API server, and a leader that keeps Secrets of brokers there. */
export class SecretsBed implements AsyncDisposable {
  /** Undefined: it is a real one. */
  readonly #api: ApiServer | undefined;
  readonly client: KubeClient;
  readonly clock = createFakeClock();
  readonly lines: string[] = [];
  readonly events: string[] = [];
  readonly effects: string[] = [];
  readonly log = createLogger({
    part: 'test',
    level: 'warn',
    destination: { write: (line: string) => void this.lines.push(line) },
  });
  namespace = 'none';
  secrets!: BrokerSecrets;
  #namespaces = 0;
  #requests = 0;
  #pending = new Set<Promise<unknown>>();
  #leading = new AbortController();
  #work = Promise.withResolvers<void>();
  #over: Promise<void> = Promise.resolve();

  private constructor(access: ClusterAccess, api?: ApiServer) {
    this.#api = api;
    this.client = createKubeClient(access, { clock: systemClock });
  }

  static async start(): Promise<SecretsBed> {
    const api = await startApiServer();
    return new SecretsBed(api.access, api);
  }

  /** Before an API server that somebody else runs. */
  static on(access: ClusterAccess): SecretsBed {
    return new SecretsBed(access);
  }

  get api(): ApiServer {
    if (!this.#api) throw new Error('the API server is not ours');
    return this.#api;
  }

  /** An empty namespace, and a leader who has said and done nothing yet. */
  async empty(): Promise<void> {
    this.namespace = `brokers-${++this.#namespaces}`;
    for (const all of [this.lines, this.events, this.effects]) all.length = 0;
    this.#api?.faults.clear();
    await this.client.create(namespaces, { metadata: { name: this.namespace } });
    this.lead({});
  }

  lead({ isOn = true, beforeWrite }: LeadOptions): void {
    this.#leading = new AbortController();
    this.#requests = 0;
    let before = beforeWrite;
    const counted = async <T>(call: Promise<T>): Promise<T> => {
      this.#requests++;
      this.#pending.add(call);
      return call.finally(() => this.#pending.delete(call));
    };
    const tell = createPerform<Effect>(
      (effect, phase) => void this.effects.push(`${phase} ${effect}`),
    );
    const { client, clock, log } = this;
    this.secrets = new BrokerSecrets({
      isOn,
      client: {
        find: async (...call) => counted(client.find(...call)),
        apply: async (...call) => {
          const first = before;
          before = undefined;
          const { signal = this.#leading.signal } = call[2];
          return counted((first?.(signal) ?? Promise.resolve()).then(() => client.apply(...call)));
        },
      },
      recorder: {
        record: (_, { type, reason, message }) => this.events.push(`${type} ${reason}: ${message}`),
      },
      perform: tell,
      clock,
      log,
    });
    this.#work = Promise.withResolvers();
    const { promise } = this.#work;
    this.#over = this.secrets.during(this.#leading.signal, async () => promise);
  }

  async leadWith(options: LeadOptions): Promise<void> {
    await this.follow();
    this.lead(options);
  }

  /** Loses the lease; what works does not know it yet. */
  lose(): void {
    this.#leading.abort(new Error('the lease is lost'));
  }

  async follow(): Promise<void> {
    this.lose();
    this.#work.resolve();
    await this.#over;
  }

  /** Nothing is being asked or written any more. */
  async idle(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.#pending.size === 0 ? quiet + 1 : 0) {
      await Promise.allSettled(this.#pending);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Until the signal aborts. */
  async hang(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  requests(): number {
    return this.#requests;
  }

  async secret(name: string): Promise<Secret | undefined> {
    return this.client.find(secrets, { namespace: this.namespace, name });
  }

  /** What a Secret holds, as text. */
  async data(name: string): Promise<Record<string, string>> {
    const entries = Object.entries((await this.secret(name))?.data ?? {});
    return Object.fromEntries(
      entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  }

  /** Somebody else makes one. */
  async make(
    name: string,
    metadata: Partial<ObjectMeta>,
    data: Readonly<Record<string, string>>,
    type = 'Opaque',
  ): Promise<void> {
    const object = { metadata: { namespace: this.namespace, ...metadata, name }, type };
    await this.client.create(
      secrets,
      { ...object, data: encoded(data) },
      { fieldManager: 'kubectl-create' },
    );
  }

  async edit(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const ref = { namespace: this.namespace, name };
    await this.client.patch(secrets, ref, { data: encoded(data) });
  }

  async delete(name: string): Promise<void> {
    await this.client.delete(secrets, { namespace: this.namespace, name });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client[Symbol.asyncDispose]();
    await this.#api?.close();
  }
}

function encoded(data: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}
