import { agentAppName, labels } from '../../api/names.ts';
import type { Reflector } from '../../kube/cache/reflector.ts';
import type { Store } from '../../kube/cache/store.ts';
import { type Job, jobs, type Node, nodes, type Pod, pods } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Resource } from '../../kube/resource.ts';
import { createWatch, type WatchContext } from '../../runtime/watch.ts';
import { slimAgentPod, slimJob } from '../jobs/job-runner.ts';
import { type NodeConfig, nodeConfigs, slimNode } from '../objects/stores.ts';
import { legacyJobsSelector, type OtherController, slimPod } from './legacy-controller.ts';

export interface WatchesOptions extends WatchContext {
  readonly namespace: string;
  readonly agentNamespace: string;
  /** Node label to cache; undefined: none. */
  readonly nodeLabel: string | undefined;
  readonly stores: {
    readonly configs: Store<NodeConfig>;
    readonly nodes: Store<Node>;
    readonly jobs: Store<Job>;
    readonly pods: Store<Pod>;
    readonly other: Pick<OtherController, 'jobs' | 'pods'>;
  };
}

export interface Watches {
  readonly configs: Reflector;
  readonly nodes: Reflector;
  readonly all: readonly Reflector[];
}

interface Scope<T> {
  /** Name to distinguish several watches for one kind. */
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly transform?: (object: T) => T;
}

/** Creates the watches: objects, Nodes, own Jobs and Pods, and the legacy controller's Jobs and Pods. */
export function createWatches(options: WatchesOptions): Watches {
  const { namespace, agentNamespace, stores } = options;
  const mirror = <T extends KubeObject>(resource: Resource<T>, store: Store<T>, scope: Scope<T>) =>
    createWatch({ resource, store, ...scope }, options);

  const agents = {
    namespace: agentNamespace,
    labelSelector: `${labels.appName}=${agentAppName}`,
  };
  const { other } = stores;
  const configs = mirror(nodeConfigs, stores.configs, { namespace });
  const cachedNodes = mirror(nodes, stores.nodes, {
    transform: (node) => slimNode(node, options.nodeLabel),
  });
  return {
    configs,
    nodes: cachedNodes,
    all: [
      configs,
      cachedNodes,
      mirror(jobs, stores.jobs, { ...agents, transform: slimJob }),
      mirror(pods, stores.pods, { ...agents, transform: slimAgentPod }),
      mirror(jobs, other.jobs, {
        name: 'DeployedJob',
        namespace,
        labelSelector: legacyJobsSelector,
      }),
      mirror(pods, other.pods, { name: 'DeployedPod', namespace, transform: slimPod }),
    ],
  };
}
