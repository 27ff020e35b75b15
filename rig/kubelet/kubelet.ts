import { mkdir, rm } from 'node:fs/promises';
import type { ClusterAccess } from '../../src/kube/access/access.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { Store } from '../../src/kube/cache/store.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { type Pod, pods } from '../../src/kube/core-resources.ts';
import { type Clock, type Random, systemClock, systemRandom } from '../../src/time/clock.ts';
import { program } from '../parts/program.ts';
import { type Failure, FailureOrders } from './failure.ts';
import { findInternalIp, type HostHandle, readMachineId } from './host.ts';
import { Life } from './life.ts';
import { createNodeReporter } from './node-reporter.ts';
import { PodsOnNode } from './pods-on-node.ts';

const heartbeatMs = 10_000;

export interface KubeletOptions {
  readonly access: ClusterAccess;
  readonly node: {
    readonly name: string;
    readonly systemUUID: string;
    readonly host: HostHandle;
    /** Address of the Node; without one that of the host's way out. */
    readonly internalIp?: string;
    /** What the Node says that it runs. */
    readonly osImage?: string;
  };
  /** What stands for the image's entrypoint (default: the agent of the bundle); each Pod may have its own. */
  readonly agentCommand?: readonly string[] | ((pod: Pod) => readonly string[]);
  /** Folder for volumes and logs of Pods; made, and removed in the end. */
  readonly directory: string;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Told what goes wrong. */
  readonly log?: (message: string, about?: unknown) => void;
}

export interface Kubelet extends AsyncDisposable {
  /** Lets one Pod go wrong: the next one, or the next one whose name starts like this. */
  fail(failure: Failure, pod?: string): void;
  /** Reports the Node as Ready or not. */
  setReady(ready: boolean): Promise<void>;
  /** Its process ends: it begins, stops and tells nothing any more, while containers go on. */
  die(): void;
  /** Whether its process is there. */
  readonly alive: boolean;
  /** It is started again and goes on with what it finds, also with containers that have ended meanwhile. */
  startAgain(): void;
  /** Whether it tells how its Node is; a Node that it does not tell of stays as it was last. */
  tellsNode: boolean;
  /** What a reboot shows: containers end without a word, then the Node has a new bootID. */
  reboot(): Promise<void>;
  /** Stops every container and leaves; Node and Pods stay as they are in the API. */
  close(): Promise<void>;
}

/** Registers a Node and runs its Pods as processes on a host; resolves when the Node is Ready. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  const { clock = systemClock, random = systemRandom, node, directory } = options;
  const log = options.log ?? (() => undefined);
  const { agentCommand = program('agent').command } = options;
  const client = createKubeClient(options.access, { clock, random, userAgent: 'kubelet' });
  const stopped = new AbortController();
  const failures = new FailureOrders();
  const life = new Life();
  const hostIp = node.internalIp ?? (await findInternalIp(node.host));
  await mkdir(directory, { recursive: true });

  const reporter = createNodeReporter(client, clock, {
    ...node,
    internalIp: hostIp,
    readMachineId: () => readMachineId(node.host),
  });
  await reporter.register();
  const onNode = new PodsOnNode({
    client,
    host: node.host,
    hostIp,
    commandOf: typeof agentCommand === 'function' ? agentCommand : () => agentCommand,
    directory,
    clock,
    random,
    failures,
    life,
    signal: stopped.signal,
    log: (message, pod, error) => log(`${message}: ${pod.metadata.name}`, error),
  });
  const store = new Store<Pod>();
  store.subscribe(({ type, object }) => {
    void life.up.then(() => (type === 'deleted' ? onNode.forget(object) : onNode.take(object)));
  });
  const reflector = createReflector({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${node.name}`,
    store,
    clock,
    random,
    onError: (error) => log('watching Pods', error),
  });
  const following = reflector.run(stopped.signal);
  let tellsNode = true;
  const report = async (): Promise<void> => {
    await life.up;
    if (tellsNode && !stopped.signal.aborted) await reporter.report();
  };
  const beating = beat(report, clock, stopped.signal, log);

  async function close(): Promise<void> {
    if (stopped.signal.aborted) return;
    stopped.abort(new Error('the kubelet is being stopped'));
    life.startAgain();
    await Promise.all([following, beating, onNode.close()]);
    await client[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  }
  return {
    fail: (failure, pod) => failures.order(failure, pod),
    setReady: (ready) => reporter.setReady(ready),
    die: () => life.end(),
    get alive() {
      return life.alive;
    },
    startAgain: () => life.startAgain(),
    get tellsNode() {
      return tellsNode;
    },
    set tellsNode(on) {
      tellsNode = on;
    },
    async reboot() {
      life.startAgain();
      await onNode.powerLoss();
      await reporter.reboot();
      for (const object of store.list()) onNode.take(object);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function beat(
  report: () => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
  log: (message: string, about?: unknown) => void,
): Promise<void> {
  for (;;) {
    await clock.sleep(heartbeatMs, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await report();
    } catch (error) {
      log('heartbeat', error);
    }
  }
}
