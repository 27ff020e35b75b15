import { readFile } from 'node:fs/promises';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import { addContext, noAccess } from '../../explain/missing-texts.ts';
import { same } from '../../explain/wording.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { accessOf, connect, usualKubeconfig } from '../cluster-access.ts';
import type { AccessOptions } from '../options.ts';
import { NoSuchProgram } from './child.ts';
import { readClusterText } from './cluster-text.ts';
import { grantReader } from './grants.ts';
import { type ClusterChoice, startPortForward, startProxy } from './kubectl.ts';
import { OperatorApi } from './operator-api.ts';
import { findOperator, type OperatorHome } from './operator-home.ts';
import { Unread } from './unread.ts';

/** The operator's API port in its Pod. */
const apiPort = 18_081;

/** All connections of one command, opened on first use. */
export class Session implements AsyncDisposable {
  readonly options: AccessOptions;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly #open: AsyncDisposable[] = [];
  readonly #clients = new Map<string, Promise<KubeClient>>();
  readonly #accesses = new Map<string, Promise<ClusterAccess>>();
  #home: Promise<OperatorHome> | undefined;
  #operator: Promise<OperatorApi> | undefined;

  constructor(options: AccessOptions, signal: AbortSignal, clock: Clock = systemClock) {
    this.options = options;
    this.signal = signal;
    this.clock = clock;
  }

  now(): Date {
    return this.clock.now();
  }

  management(): Promise<KubeClient> {
    return this.client(this.options.context);
  }

  /** Returns a business cluster's client. Throws Unread without a context for it. */
  business(provider: string): Promise<KubeClient> {
    return this.client(this.contextOf(provider));
  }

  contextOf(provider: string): string {
    const context = this.options.businessContext.get(provider);
    if (context !== undefined) return context;
    throw new Unread(noAccess, addContext(provider));
  }

  home(): Promise<OperatorHome> {
    this.#home ??= this.management().then((client) =>
      findOperator(client, this.options.operatorNamespace, this.now(), this.signal),
    );
    return this.#home;
  }

  operator(): Promise<OperatorApi> {
    this.#operator ??= this.#connectOperator();
    return this.#operator;
  }

  async #connectOperator(): Promise<OperatorApi> {
    const { inventory, tokenFile } = this.options;
    if (inventory !== undefined) {
      const token = tokenFile === undefined ? undefined : () => readToken(tokenFile);
      const address = { url: inventory, token, verifiesTls: true };
      return this.#kept(new OperatorApi(address, this.signal));
    }
    const { namespace, leader: pod } = await this.home();
    if (pod === undefined) {
      throw new Unread(
        filled(accessTexts.noLeader, { namespace }),
        same(`kubectl -n ${namespace} get pods`),
      );
    }
    const localPort = await this.#forward(namespace, pod);
    const url = `http://127.0.0.1:${localPort}`;
    return this.#kept(new OperatorApi({ url, verifiesTls: false }, this.signal));
  }

  async #forward(namespace: string, pod: string): Promise<number> {
    try {
      const target = { namespace, pod, port: apiPort };
      const choice = this.#choice(this.options.context);
      return this.#kept(await startPortForward(choice, target, this.signal)).localPort;
    } catch (error) {
      if (error instanceof NoSuchProgram) {
        throw new Unread(accessTexts.needsKubectl, accessTexts.installKubectl);
      }
      throw this.#failedForward(error, namespace);
    }
  }

  #failedForward(error: unknown, namespace: string): unknown {
    if (this.signal.aborted || !(error instanceof Error)) return error;
    const user = /User "([^"]+)"/.exec(error.message)?.[1] ?? 'USER';
    if (/forbidden/i.test(error.message)) {
      const why = accessTexts.forwardForbidden;
      return new Unread(why, same(grantReader(namespace)(user)));
    }
    const why = filled(accessTexts.forwardFailed, { message: error.message });
    return new Unread(why, accessTexts.tryAgain);
  }

  /** Returns the client of a context; undefined: the management cluster. */
  client(context: string | undefined = this.options.context): Promise<KubeClient> {
    return once(this.#clients, context, async () =>
      this.#kept(connect(await this.#accessTo(context))),
    );
  }

  /** Reads text from the API server of a context, such as a log; undefined: the management cluster. */
  async text(context: string | undefined, path: string): Promise<string> {
    const access = await this.#accessTo(context ?? this.options.context);
    return readClusterText(access, path, this.signal);
  }

  #accessTo(context: string | undefined): Promise<ClusterAccess> {
    return once(this.#accesses, context, () => this.#access(context));
  }

  async #access(context: string | undefined): Promise<ClusterAccess> {
    try {
      return this.#kept(await startProxy(this.#choice(context), this.signal));
    } catch (error) {
      if (error instanceof NoSuchProgram) {
        const path = this.options.kubeconfig ?? usualKubeconfig();
        return accessOf(path, context, { file: '--kubeconfig', context: '--context' });
      }
      if (this.signal.aborted || !(error instanceof Error)) throw error;
      throw new Unread(
        filled(accessTexts.kubectlFailed, { message: error.message }),
        accessTexts.checkKubeconfig,
      );
    }
  }

  #choice(context: string | undefined): ClusterChoice {
    return { kubeconfig: this.options.kubeconfig, context };
  }

  #kept<T extends AsyncDisposable>(resource: T): T {
    this.#open.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#open.toReversed()) await resource[Symbol.asyncDispose]();
  }
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Unread(filled(accessTexts.tokenUnreadable, { why }), accessTexts.giveTokenFile);
  }
}

function once<T>(
  all: Map<string, Promise<T>>,
  context: string | undefined,
  create: () => Promise<T>,
): Promise<T> {
  const key = context ?? '';
  const existing = all.get(key);
  if (existing) return existing;
  const created = create();
  all.set(key, created);
  return created;
}
