import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { FactSource, RequiredSource } from '../../explain/fact.ts';
import { addContext, noAccess } from '../../explain/missing-texts.ts';
import type { ClusterAccess } from '../../kube/access/access.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { boundedClient } from './bounded-client.ts';
import { type ChildLimit, NoSuchProgram } from './child.ts';
import { accessOf, type ClusterFlags, connect } from './cluster-access.ts';
import { readClusterText } from './cluster-text.ts';
import { grantReader, requestTo } from './grants.ts';
import { type ClusterChoice, tunnels } from './kubectl.ts';
import { OperatorApi } from './operator-api.ts';
import { findOperator, holderOf, type OperatorHome, usualHomes, valueOf } from './operator-home.ts';
import { type AccessOptions, usualRequestTimeoutMs } from './options.ts';
import { SourceLimit } from './source-limit.ts';
import { choiceOf, kubeconfigOf, requiredSource, SourceError } from './sources.ts';
import { Unread } from './unread.ts';

/** The operator's API port in its Pod. */
const apiPort = 18_081;

/** All connections of one command, opened on first use. */
export class Session implements AsyncDisposable {
  readonly options: AccessOptions;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Limit per call to a source, and for starting kubectl. */
  readonly limit: ChildLimit;
  readonly #open: AsyncDisposable[] = [];
  readonly #clients = new Map<string, Promise<KubeClient>>();
  readonly #accesses = new Map<string, Promise<ClusterAccess>>();
  #home: Promise<OperatorHome> | undefined;
  #operator: Promise<OperatorApi> | undefined;
  #operatorPlace: string;

  constructor(options: AccessOptions, signal: AbortSignal, clock: Clock = systemClock) {
    this.options = options;
    this.signal = signal;
    this.clock = clock;
    this.limit = { clock, ms: options.requestTimeout ?? usualRequestTimeoutMs, signal };
    this.#operatorPlace = `namespace ${options.operatorNamespace ?? usualHomes[0]}`;
  }

  now(): Date {
    return this.clock.now();
  }

  /** Returns the required source; undefined: a business cluster without access options. */
  required(source: FactSource, provider?: string): RequiredSource | undefined {
    return requiredSource(this.options, { source, provider, operatorPlace: this.#operatorPlace });
  }

  /** Returns the kubeconfig's path for a business cluster; undefined: for the management cluster. */
  kubeconfig(provider: string | undefined): string {
    return kubeconfigOf(choiceOf(this.options, provider)?.kubeconfig);
  }

  management(): Promise<KubeClient> {
    return this.client(undefined);
  }

  home(): Promise<OperatorHome> {
    const search = {
      chosen: this.options.operatorNamespace,
      now: this.now(),
      signal: this.signal,
    };
    this.#home ??= this.management().then((client) => findOperator(client, search));
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
      return this.#kept(new OperatorApi(address, this.limit));
    }
    const { home, pod } = await this.#leader();
    this.#operatorPlace = `port-forward ${home.namespace}/${pod}`;
    const localPort = await this.#forward(home, pod);
    const url = `http://127.0.0.1:${localPort}`;
    return this.#kept(new OperatorApi({ url, verifiesTls: false }, this.limit));
  }

  /** Returns the leading Pod, or the Lease's holder outside the cluster. */
  async #leader(): Promise<{ readonly home: OperatorHome; readonly pod: string }> {
    const { home, lease } = await this.#lease();
    this.#operatorPlace = `namespace ${home.namespace}`;
    return { home, pod: holderOf(home, lease, this.now()) };
  }

  /** Reads the Lease; SourceError: the management API failed. */
  async #lease() {
    try {
      const home = await this.home();
      return { home, lease: valueOf(home.lease) };
    } catch (error) {
      const required = this.required('management cluster');
      if (this.signal.aborted || !required) throw error;
      throw new SourceError(required, error);
    }
  }

  async #forward({ namespace, installed }: OperatorHome, pod: string): Promise<number> {
    try {
      const target = { namespace, pod, port: apiPort };
      return this.#kept(await tunnels.startPortForward(this.#choice(undefined), target, this.limit))
        .localPort;
    } catch (error) {
      if (error instanceof NoSuchProgram) {
        throw new Unread(accessTexts.needsKubectl, accessTexts.installKubectl);
      }
      if (error instanceof DeadlineReached) throw error;
      if (installed === 'Process' && !this.signal.aborted) {
        const why = filled(accessTexts.operatorIsProcess, { namespace, holder: pod });
        throw new Unread(why, accessTexts.giveInventory);
      }
      throw this.#failedForward(error, namespace);
    }
  }

  #failedForward(error: unknown, namespace: string): unknown {
    if (this.signal.aborted || !(error instanceof Error)) return error;
    if (/forbidden/i.test(error.message)) {
      const next = requestTo(grantReader(namespace), error.message);
      return new Unread(accessTexts.forwardForbidden, next);
    }
    const why = filled(accessTexts.forwardFailed, { message: error.message });
    return new Unread(why, accessTexts.tryAgain);
  }

  /** Returns a business cluster's client; undefined: the management cluster. Throws Unread without access. */
  async client(provider: string | undefined): Promise<KubeClient> {
    const choice = this.#choice(provider);
    return once(this.#clients, choice, async () =>
      boundedClient(
        this.#kept(connect(await this.#accessTo(provider), this.limit)),
        new SourceLimit(this.limit),
      ),
    );
  }

  /** Reads text from an API server, such as a log; undefined: the management cluster. */
  async text(provider: string | undefined, path: string): Promise<string> {
    return readClusterText(await this.#accessTo(provider), path, this.limit);
  }

  #accessTo(provider: string | undefined): Promise<ClusterAccess> {
    const choice = this.#choice(provider);
    return once(this.#accesses, choice, () => this.#access(choice, optionsFor(provider)));
  }

  async #access(choice: ClusterChoice, flags: ClusterFlags): Promise<ClusterAccess> {
    try {
      return this.#kept(await tunnels.startProxy(choice, this.limit));
    } catch (error) {
      if (error instanceof NoSuchProgram) {
        return accessOf(kubeconfigOf(choice.kubeconfig), choice.context, flags);
      }
      const isKnown = error instanceof Unread || error instanceof DeadlineReached;
      if (isKnown || this.signal.aborted || !(error instanceof Error)) throw error;
      throw failedProxy(error, choice, flags);
    }
  }

  #choice(provider: string | undefined): ClusterChoice {
    const choice = choiceOf(this.options, provider);
    if (choice) return choice;
    throw new Unread(noAccess, addContext(provider ?? ''));
  }

  #kept<T extends AsyncDisposable>(resource: T): T {
    this.#open.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.#open.toReversed()) await resource[Symbol.asyncDispose]();
  }
}

/** Returns the options by which the user chose a cluster. */
function optionsFor(provider: string | undefined): ClusterFlags {
  if (provider === undefined) return { file: '--kubeconfig', context: '--context' };
  return {
    file: `--business-kubeconfig ${provider}=FILE`,
    context: `--business-context ${provider}=CONTEXT`,
  };
}

function failedProxy(error: Error, { kubeconfig }: ClusterChoice, flags: ClusterFlags): Unread {
  if (kubeconfig !== undefined && !existsSync(kubeconfig)) {
    return new Unread(
      filled(accessTexts.noSuchKubeconfig, { kubeconfig }),
      filled(accessTexts.giveKubeconfig, { option: flags.file }),
    );
  }
  return new Unread(
    filled(accessTexts.kubectlFailed, { message: error.message.replace(/^error: /, '') }),
    filled(accessTexts.checkKubeconfig, { option: flags.context }),
  );
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
  { kubeconfig = '', context = '' }: ClusterChoice,
  create: () => Promise<T>,
): Promise<T> {
  const key = `${context}\n${kubeconfig}`;
  const existing = all.get(key);
  if (existing) return existing;
  const created = create();
  all.set(key, created);
  return created;
}
