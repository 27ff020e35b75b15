import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { Pod } from '../../src/kube/core-resources.ts';
import type { Clock } from '../../src/time/clock.ts';
import { type Container, startContainer } from './container.ts';
import type { Failure } from './failure.ts';
import type { HostHandle } from './host.ts';
import type { Life } from './life.ts';
import {
  type End,
  ended,
  type PodReason,
  type PodStatus,
  refused,
  running,
  type StatusBase,
  waiting,
} from './pod-status.ts';
import { buildRootfs, type Rootfs, translateArguments } from './rootfs.ts';
import { prepareVolumes } from './volumes.ts';

/** How long until a volume that could not be made is tried again. */
const retryMs = 1000;

export interface PodRunOptions {
  readonly client: Pick<KubeClient, 'find'>;
  readonly host: HostHandle;
  readonly hostIp: string | undefined;
  /** What stands for the image's entrypoint; the container's arguments follow. */
  readonly commandOf: (pod: Pod) => readonly string[];
  /** Folder of the kubelet; each Pod has one of its own in it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly life: Life;
  /** Publishes a status; resolves when it is stored or the Pod is gone. */
  readonly report: (pod: Pod, status: PodStatus) => Promise<void>;
  readonly log: (message: string, pod: Pod, error?: unknown) => void;
}

/** Why a Pod has to end before it does so by itself. */
export type Stop =
  | { readonly kind: 'deleted'; readonly graceMs: number }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'powerLoss' };

/** One Pod on this node, from its admission to its last status. */
export class PodRun {
  readonly #options: PodRunOptions;
  readonly #failure: Failure | undefined;
  readonly #base: StatusBase;
  readonly #folder: string;
  readonly #stopped = new AbortController();
  #stop: Stop | undefined;
  #ended = false;
  #container: Container | undefined;

  constructor(pod: Pod, failure: Failure | undefined, options: PodRunOptions) {
    this.#options = options;
    this.#failure = failure;
    this.#base = { pod, hostIp: options.hostIp, startTime: this.#now() };
    this.#folder = join(options.directory, pod.metadata.uid ?? pod.metadata.name);
  }

  /** True when the Pod has come to an end on this node; one that was stopped before its container ran may run again. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Resolves when the Pod has ended and its last status is stored, or when it was stopped before it began. */
  async run(): Promise<void> {
    const { pod } = this.#base;
    const { report, log } = this.#options;
    try {
      const last = (await this.#live()) ?? this.#unstarted();
      this.#ended = last !== undefined;
      if (last) await report(pod, last);
    } catch (error) {
      log('Pod failed in an unexpected way', pod, error);
      await report(pod, waiting(this.#base, 'CreateContainerError', (error as Error).message));
    } finally {
      await rm(this.#folder, { recursive: true, force: true });
    }
  }

  /** Ends the Pod; the first reason counts. */
  async stop(stop: Stop): Promise<void> {
    this.#stop ??= stop;
    this.#stopped.abort(new Error(`the Pod is to end: ${stop.kind}`));
    if (stop.kind === 'powerLoss') this.#container?.kill();
    else await this.#container?.stop(stop.kind === 'deleted' ? stop.graceMs : 0);
  }

  /** The last status; undefined when the Pod was stopped before its container ran. */
  async #live(): Promise<PodStatus | undefined> {
    const { pod } = this.#base;
    await this.#options.report(pod, waiting(this.#base, 'ContainerCreating'));
    if (this.#failure === 'evicted') return refused(this.#base, evicted);
    if (this.#failure === 'imagePull') return this.#neverStart('ImagePullBackOff', noImage);
    if (this.#failure === 'neverStarts') return this.#neverStart('ContainerCreating');
    const rootfs = await this.#rootfs();
    if (!rootfs || this.#stop) return undefined;
    return this.#runContainer(rootfs);
  }

  /** What the kubelet itself says about a Pod whose container never ran. */
  #unstarted(): PodStatus | undefined {
    const why = this.#podReason();
    return why && refused(this.#base, why);
  }

  async #neverStart(reason: string, message?: string): Promise<undefined> {
    await this.#options.report(this.#base.pod, waiting(this.#base, reason, message));
    if (this.#stop) return;
    await new Promise((resolve) => {
      this.#stopped.signal.addEventListener('abort', resolve, { once: true });
    });
  }

  /** Volumes are tried again until they can be made or the Pod is stopped, as a kubelet does. */
  async #rootfs(): Promise<Rootfs | undefined> {
    const { client, host, clock, log } = this.#options;
    const { pod } = this.#base;
    const container = firstContainer(pod);
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await rm(this.#folder, { recursive: true, force: true });
        const folder = join(this.#folder, 'volumes');
        const where = { client, folder, hostRoot: host.root, signal };
        const mounts = await prepareVolumes(pod, container, where);
        const view = join(this.#folder, 'rootfs');
        await mkdir(view, { recursive: true });
        return await buildRootfs(view, mounts, messagePath(pod));
      } catch (error) {
        if (signal.aborted) return undefined;
        log('volumes are not ready', pod, error);
        await clock.sleep(retryMs, signal).catch(() => undefined);
      }
    }
    return undefined;
  }

  async #runContainer(rootfs: Rootfs): Promise<PodStatus> {
    const { host, commandOf, clock, life, report, directory } = this.#options;
    const { pod } = this.#base;
    const { args = [], env = [] } = firstContainer(pod);
    const startedAt = this.#now();
    this.#container = await startContainer({
      command: [...commandOf(pod), ...translateArguments(args, rootfs)],
      env: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
      netns: host.netns,
      logFile: join(directory, `${pod.metadata.name}.log`),
      clock,
    });
    if (this.#failure === 'oom' || this.#stop) this.#container.kill();
    if (this.#failure === 'kubeletDiesUnheard') life.end();
    else await report(pod, running(this.#base, startedAt));
    if (this.#failure === 'kubeletDies') life.end();
    const exitCode = await this.#container.exited;
    const message =
      this.#failure === 'lost' ? '' : await readFile(rootfs.resolve(messagePath(pod)), 'utf8');
    const end = { message, startedAt, finishedAt: this.#now(), ...this.#cause(exitCode) };
    return ended(this.#base, end, this.#podReason());
  }

  #cause(exitCode: number): Pick<End, 'exitCode' | 'reason'> {
    if (this.#failure === 'oom') return { exitCode: 137, reason: 'OOMKilled' };
    if (this.#stop?.kind === 'powerLoss') return { exitCode: 255, reason: 'Unknown' };
    return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' };
  }

  #podReason(): PodReason | undefined {
    if (this.#stop?.kind !== 'deadline') return undefined;
    const message = 'Pod was active on the node longer than the specified deadline';
    return { reason: 'DeadlineExceeded', message };
  }

  #now(): string {
    return `${this.#options.clock.now().toISOString().slice(0, 19)}Z`;
  }
}

const evicted = { reason: 'Evicted', message: 'The node was low on resource: memory.' };
const noImage = 'Back-off pulling image: told to have none';

function firstContainer(pod: Pod) {
  const [container] = pod.spec?.containers ?? [];
  if (!container) throw new Error('the Pod has no container');
  return container;
}

function messagePath(pod: Pod): string {
  return firstContainer(pod).terminationMessagePath ?? '/dev/termination-log';
}
