import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from '../../src/kube/access/access.ts';
import { createReflector } from '../../src/kube/cache/reflector.ts';
import { Store } from '../../src/kube/cache/store.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { type Pod, pods } from '../../src/kube/core-resources.ts';
import { type Clock, passed, systemClock, systemRandom } from '../../src/time/clock.ts';
import { createNodeReporter } from '../kubelet/node-reporter.ts';
import { ServiceProxy } from './service-proxy.ts';
import { type Program, Workload } from './workload.ts';

const heartbeatMs = 10_000;

export interface WorkloadsOptions {
  readonly access: ClusterAccess;
  /** Name of the Node. */
  readonly node: string;
  /** Folder for logs and volumes. */
  readonly directory: string;
  readonly programOf: (pod: Pod) => Promise<Program>;
  readonly clock?: Clock;
  readonly log?: (message: string, about?: unknown) => void;
}

export interface Workloads extends AsyncDisposable {
  /** A URL of a Service as this machine reaches it. */
  localUrl(url: string): Promise<string>;
  /** Path of what a Pod has said. */
  logOf(pod: string): string;
}

/** Registers a Node and runs its Pods as processes of this machine; resolves when the Node is Ready. */
export async function startWorkloads(options: WorkloadsOptions): Promise<Workloads> {
  const { clock = systemClock, node, directory, log = () => undefined } = options;
  await mkdir(directory, { recursive: true });
  const client = createKubeClient(options.access, {
    clock,
    random: systemRandom,
    userAgent: 'workloads',
  });
  const stopped = new AbortController();
  const running = new Map<string, { readonly workload: Workload; readonly pod: Pod }>();
  const ending: Promise<void>[] = [];
  const services = new ServiceProxy(client, (namespace, selector, port) => {
    const selected = [...running.values()].filter(
      ({ pod }) => pod.metadata.namespace === namespace && hasLabels(pod, selector),
    );
    return selected.map(({ workload }) => workload.portFor(port)).find((it) => it !== undefined);
  });

  const reporter = createNodeReporter(client, clock, {
    name: node,
    systemUUID: crypto.randomUUID(),
    internalIp: '10.200.255.254',
    readMachineId: async () => '',
  });
  await reporter.register();

  function take(pod: Pod): void {
    const uid = pod.metadata.uid ?? '';
    const known = running.get(uid);
    if (pod.metadata.deletionTimestamp !== undefined) {
      running.delete(uid);
      const workload =
        known?.workload ?? new Workload(pod, { ...options, client, services, clock, log });
      ending.push(workload.leave().catch((error: unknown) => log('Pod does not leave', error)));
      return;
    }
    if (known) return;
    const workload = new Workload(pod, { ...options, client, services, clock, log });
    running.set(uid, { workload, pod });
    ending.push(workload.run());
  }

  const store = new Store<Pod>();
  store.subscribe(({ type, object }) => {
    if (type !== 'deleted') return take(object);
    const gone = running.get(object.metadata.uid ?? '');
    running.delete(object.metadata.uid ?? '');
    if (gone) ending.push(gone.workload.stop());
  });
  const following = createReflector({
    client,
    resource: pods,
    fieldSelector: `spec.nodeName=${node}`,
    store,
    clock,
    random: systemRandom,
    onError: (error) => log('watching Pods', error),
  }).run(stopped.signal);
  const beating = beat();

  async function beat(): Promise<void> {
    while (!stopped.signal.aborted) {
      await reporter.report().catch((error: unknown) => log('heartbeat', error));
      await passed(clock, heartbeatMs, stopped.signal);
    }
  }

  return {
    localUrl: (url) => services.localUrl(url),
    logOf: (pod) => join(directory, `${pod}.log`),
    async [Symbol.asyncDispose]() {
      stopped.abort(new Error('the Node is being stopped'));
      await Promise.all([...running.values()].map(({ workload }) => workload.stop()));
      await Promise.all([following, beating, ...ending]);
      await services[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}

function hasLabels({ metadata }: Pod, selector: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value);
}
