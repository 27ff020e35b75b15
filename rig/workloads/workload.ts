import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import { type Pod, pods } from '../../src/kube/core-resources.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { type Clock, passed } from '../../src/time/clock.ts';
import { type Container, startContainer } from '../kubelet/container.ts';
import { type PodStatus, running, waiting } from '../kubelet/pod-status.ts';
import { freePorts } from '../parts/free-ports.ts';
import { asHere, environmentOf } from './environment.ts';
import { isReady, portNamed, portsOf } from './probe.ts';
import type { ServiceProxy } from './service-proxy.ts';
import { type Mounted, mountVolumes } from './volumes.ts';

/** What stands for the image of a Pod. */
export interface Program {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface WorkloadOptions {
  readonly client: Pick<KubeClient, 'find' | 'applyStatus' | 'delete'>;
  readonly programOf: (pod: Pod) => Promise<Program>;
  readonly services: Pick<ServiceProxy, 'localUrl'>;
  readonly directory: string;
  readonly clock: Clock;
  readonly log: (message: string, about?: unknown) => void;
}

const pauseMs = 1000;

/** One Pod of a Deployment, for as long as it is wanted. */
export class Workload {
  readonly #pod: Pod;
  readonly #options: WorkloadOptions;
  readonly #stopped = new AbortController();
  readonly #folder: string;
  #ports: ReadonlyMap<number, number> = new Map();
  #container: Container | undefined;
  #ready = false;

  constructor(pod: Pod, options: WorkloadOptions) {
    this.#pod = pod;
    this.#options = options;
    this.#folder = join(options.directory, pod.metadata.uid ?? pod.metadata.name);
  }

  /** Port of loopback for a port of the container, by name or number; undefined while it does not serve. */
  portFor(port: string | number): number | undefined {
    if (!this.#ready) return undefined;
    const declared = portNamed(this.#pod, port);
    return declared === undefined ? undefined : this.#ports.get(declared);
  }

  /** Runs the Pod, again whenever it ends, until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    const { log, clock } = this.#options;
    await mkdir(this.#folder, { recursive: true });
    while (!signal.aborted) {
      try {
        await this.#once();
      } catch (error) {
        if (!signal.aborted) {
          log(`Pod ${this.#pod.metadata.name}`, error);
          await this.#report(waiting(this.#base(), 'ContainerCreating', String(error)));
        }
      }
      this.#ready = false;
      await passed(clock, pauseMs, signal);
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Ends it; its Pod is still in the API. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the Pod is to end'));
    this.#ready = false;
    await this.#container?.stop(8000);
  }

  /** Ends it and takes its Pod out of the API. */
  async leave(): Promise<void> {
    await this.stop();
    const { namespace = '', name, uid = '' } = this.#pod.metadata;
    await this.#options.client
      .delete(pods, { namespace, name }, { uid, gracePeriodSeconds: 0 })
      .catch(ignoreNotFound);
  }

  /** From its volumes to the end of its process. */
  async #once(): Promise<void> {
    const { clock, programOf, directory } = this.#options;
    const { signal } = this.#stopped;
    const mounts = await this.#volumes();
    const { command, env = {} } = await programOf(this.#pod);
    this.#container = await startContainer({
      command,
      env: { ...(await this.#environment(mounts)), ...env },
      netns: undefined,
      logFile: join(directory, `${this.#pod.metadata.name}.log`),
      clock,
    });
    if (signal.aborted) await this.#container.stop(8000);
    const { exited } = this.#container;
    const over = new AbortController();
    void exited.then(() => over.abort(new Error('it has ended')));
    const until = AbortSignal.any([signal, over.signal]);
    while (!until.aborted) {
      await this.#volumes();
      await this.#probe();
      await passed(clock, pauseMs / 2, until);
    }
    await exited;
  }

  #volumes(): Promise<Mounted[]> {
    const { client, directory } = this.#options;
    const lasting = join(directory, 'claims');
    return mountVolumes(this.#pod, { client, own: this.#folder, lasting });
  }

  async #environment(mounts: readonly Mounted[]): Promise<Record<string, string>> {
    const { client, services } = this.#options;
    const declared = portsOf(this.#pod).map(({ containerPort }) => containerPort);
    const free = await freePorts(declared.length);
    this.#ports = new Map(declared.map((port, i) => [port, free[i] ?? 0]));
    const values: Record<string, string> = {};
    for (const [name, value] of await environmentOf(this.#pod, client)) {
      values[name] = await services.localUrl(asHere(value, mounts, this.#ports));
    }
    return values;
  }

  /** Tells when it becomes ready, or is not any more. */
  async #probe(): Promise<void> {
    const ready = await isReady(this.#pod, this.#ports);
    if (ready === this.#ready) return;
    this.#ready = ready;
    const now = `${this.#options.clock.now().toISOString().slice(0, 19)}Z`;
    const status = running(this.#base(), now);
    const conditions = status.conditions?.map((one) => ({
      ...one,
      status: one.type === 'Initialized' || ready ? 'True' : 'False',
    }));
    await this.#report({ ...status, ...(conditions ? { conditions } : {}) });
  }

  #base() {
    return {
      pod: this.#pod,
      hostIp: '10.200.255.254',
      startTime: this.#pod.metadata.creationTimestamp ?? '',
    };
  }

  async #report(status: PodStatus): Promise<void> {
    const { namespace, name, uid } = this.#pod.metadata;
    const metadata = { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) };
    await this.#options.client
      .applyStatus(pods, { metadata, status }, { fieldManager: 'kubelet', force: true })
      .catch(ignoreNotFound);
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
