import { type Condition, findCondition, setCondition } from '../api/condition.ts';
import { annotations, deployedControllerName, labels } from '../api/names.ts';
import { Store } from '../kube/cache/store.ts';
import type { Job } from '../kube/core-resources.ts';
import type { NodeConfig } from './node-config.ts';
import { jobEndOf } from './runs/job-end.ts';

/** Jobs of the deployed controller, which lie in the namespace of the objects. */
export const deployedJobsSelector = `${labels.managedBy}=${deployedControllerName}`;

const conditionType = 'OtherControllerActive';

/** Whether the deployed controller has, or had until its Jobs expired, this cluster in its hands. */
export interface OtherController {
  readonly jobs: Store<Job>;
  /** Whether one of its agents works on the node. */
  readonly occupies: (node: string) => boolean;
  /** Whether our controller keeps its hands off this object. */
  readonly owns: (config: NodeConfig) => boolean;
}

export interface OtherControllerOptions {
  /** The whole cluster was taken over from it. */
  readonly takeOver: boolean;
}

/**
 * Watches for the deployed controller: two must never work on one node. Its Jobs expire while it goes on running, so the
 * condition that we wrote when we saw them is what counts, until somebody says that our controller takes over.
 */
export function createOtherController({ takeOver }: OtherControllerOptions): OtherController {
  const jobs = new Store<Job>({
    indexes: { node: ({ metadata }) => [metadata.labels?.[labels.nodeName] ?? ''] },
  });
  return {
    jobs,
    occupies: (node) => jobs.byIndex('node', node).some((job) => !jobEndOf(job)),
    owns: ({ metadata, status }) => {
      if (takeOver || metadata.annotations?.[annotations.takeOver] !== undefined) return false;
      return jobs.size > 0 || findCondition(status?.conditions, conditionType)?.status === 'True';
    },
  };
}

/**
 * The patch that says so on an object and changes nothing else of its status; undefined when it says so already. The
 * deployed controller replaces all conditions whenever it writes.
 */
export function standBackPatch({ metadata, status }: NodeConfig, now: Date): unknown {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  if (findCondition(conditions, conditionType)?.status === 'True') return undefined;
  const update = {
    type: conditionType,
    status: 'True',
    reason: conditionType,
    message:
      'Jobs of the deployed controller are in this namespace. Stop it for good, then annotate the object ' +
      `${annotations.takeOver}=true or start this controller with --take-over true`,
  } as const;
  const next = setCondition(conditions, update, { now, generation: metadata.generation ?? 0 });
  return { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions: next } };
}
