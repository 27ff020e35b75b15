import type { Change, Store } from '../../kube/cache/store.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type Source, sourceOf } from '../../kube/reconcile/controller.ts';
import type { NodeConfig, Stores } from '../objects/stores.ts';
import type { OtherController } from './legacy-controller.ts';
import {
  keysOfConfig,
  keysOfJob,
  keysOfLegacyJob,
  keysOfNode,
  keysOfPod,
  keysOfWorkload,
  type WaitingObjects,
} from './triggers.ts';

interface SourcesOptions {
  readonly namespace: string;
  readonly stores: Stores;
  readonly jobs: Store<Job>;
  readonly pods: Store<Pod>;
  readonly otherController: Pick<OtherController, 'jobs' | 'pods'>;
  readonly admission: WaitingObjects;
  /** Knows the controller's own status writes. */
  readonly reporter: { readonly wrote: (change: Change<NodeConfig>) => boolean };
}

/** Returns the changes that concern MultiNicNodeConfigs, without the controller's own status writes. */
export function createSources(options: SourcesOptions): Source<KubeObject>[] {
  const { namespace, stores, jobs, pods, otherController, admission, reporter } = options;
  const agents = {
    admission,
    namespace,
    recordsOf: stores.recordsOf,
    configs: stores.configDirectory,
  };
  return [
    sourceOf(stores.configs, (change) =>
      reporter.wrote(change) ? [] : keysOfConfig(stores, change),
    ),
    sourceOf(stores.nodes, (change) => keysOfNode(stores, admission, change)),
    sourceOf(jobs, (change) => keysOfJob(agents, change)),
    sourceOf(pods, (change) => keysOfPod(agents, change)),
    sourceOf(otherController.jobs, (change) => keysOfLegacyJob(stores, admission, change)),
    sourceOf(otherController.pods, (change) => keysOfWorkload(stores, change)),
  ];
}
