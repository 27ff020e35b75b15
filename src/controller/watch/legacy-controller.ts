import { type Condition, findCondition, setCondition } from '../../api/condition.ts';
import { annotations, labels, legacyControllerName } from '../../api/names.ts';
import { type Change, Store } from '../../kube/cache/store.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { jobEndOf } from '../jobs/evidence.ts';
import { type NodeConfig, otherControllerActive, type Stores } from '../objects/stores.ts';

/** Jobs of the deployed controller, which lie in the namespace of the objects. */
export const legacyJobsSelector = `${labels.managedBy}=${legacyControllerName}`;

const conditionType = otherControllerActive;

/** Whether the deployed controller has this cluster in its hands. */
export interface OtherController {
  readonly jobs: Store<Job>;
  readonly pods: Store<Pod>;
  /** Whether one of its agents works on the node. */
  readonly occupies: (node: string) => boolean;
  /** Why our controller keeps its hands off this object, and what to do about it; undefined when it does not. */
  readonly owns: (config: NodeConfig) => string | undefined;
  /** Whether a Pod of it is there, or was a moment ago. */
  readonly isRunning: () => boolean;
}

export interface OtherControllerOptions {
  /** The whole cluster was taken over from it. */
  readonly takeOver: boolean;
  readonly foreign: Stores['foreign'];
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** A Pod that is evicted, drained or rolled over is followed by another one, unless its Deployment was scaled to 0. */
const successorWithinMs = 60_000;

const takeItOver =
  `stop it for good, then annotate the object ${annotations.takeOver}=true ` +
  'or start this controller with --take-over true';

const wroteStatus = 'the deployed controller wrote the status of';

/**
 * Watches for the deployed controller: two must never work on one node. While it is seen running nobody is taken over from
 * it, whatever we are told. It may run where we do not look, and its Jobs live a second: what it wrote into a status, and
 * the condition that we wrote when we saw it, count until somebody says that our controller takes over.
 */
export function createOtherController(options: OtherControllerOptions): OtherController {
  const { clock } = options;
  const jobs = new Store<Job>({
    indexes: { node: ({ metadata }) => [metadata.labels?.[labels.nodeName] ?? ''] },
  });
  const pods = new Store<Pod>({
    indexes: { running: (pod) => (isRunningPod(pod) ? ['yes'] : []) },
  });

  let leftAt = Number.NEGATIVE_INFINITY;
  pods.subscribe((change) => {
    if (hasLeft(change)) leftAt = clock.monotonicMs();
  });

  function running(): string | undefined {
    const [pod] = pods.byIndex('running', 'yes');
    const next = `scale its Deployment to 0; ${takeItOver}`;
    if (pod) return `Pod ${keyOf(pod)} runs the deployed controller: ${next}`;
    if (clock.monotonicMs() - leftAt >= successorWithinMs) return undefined;
    return `a Pod of the deployed controller has just left, another one may follow: ${next}`;
  }

  function traces({ status }: NodeConfig): string | undefined {
    // Before the Jobs, which come and go: a message that changes with them is written again each time.
    const foreign = options.foreign();
    if (foreign !== undefined) {
      return `${wroteStatus} ${foreign}; ${takeItOver}`;
    }
    if (jobs.size > 0)
      return `Jobs of the deployed controller are in this namespace; ${takeItOver}`;
    const said = findCondition(status?.conditions, conditionType);
    // A status that is in its form no more was mended. Of its Pods and Jobs this condition is the only trace.
    if (said?.status !== 'True' || said.message?.startsWith(wroteStatus)) return undefined;
    return said.message || takeItOver;
  }

  return {
    jobs,
    pods,
    occupies: (node) => jobs.byIndex('node', node).some((job) => !jobEndOf(job)),
    owns: (config) => {
      const toldToTakeOver =
        options.takeOver || config.metadata.annotations?.[annotations.takeOver] !== undefined;
      return running() ?? (toldToTakeOver ? undefined : traces(config));
    },
    isRunning: () => running() !== undefined,
  };
}

function hasLeft(change: Change<Pod>): boolean {
  if (change.type === 'deleted') return isRunningPod(change.object);
  return change.type === 'updated' && isRunningPod(change.previous) && !isRunningPod(change.object);
}

/** Whether the deployed controller is at work in it, or will be. */
export function isRunningPod({ spec, status }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !ended && runsDeployedController(spec);
}

/** Its image holds two programs, so the command is always there. */
function runsDeployedController(spec: Pod['spec']): boolean {
  return (spec?.containers ?? []).some(({ command = [], args = [] }) =>
    [...command, ...args].some((word) => word.split('/').at(-1) === legacyControllerName),
  );
}

/** Of a Pod that is of no interest nothing but its name is kept. */
export function slimPod(pod: Pod): Pod {
  const { name, namespace = '', uid = '', resourceVersion = '' } = pod.metadata;
  if (runsDeployedController(pod.spec)) return pod;
  return { metadata: { name, namespace, uid, resourceVersion } };
}

/**
 * The patch that says so on an object and changes nothing else of its status, but for two things: the record of what was
 * done, as what the other one does on the node is not in it, and our condition Ready when it is about an earlier generation. Undefined when it says so already.
 * The deployed controller replaces all conditions whenever it writes.
 */
export function yieldPatch(
  { metadata, status, statusKeys }: NodeConfig,
  message: string,
  now: Date,
): unknown {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const said = findCondition(conditions, conditionType);
  const hasRecord = statusKeys.includes('applied');
  const isOutdated = isReadyOutdated(conditions, metadata.generation);
  if (said?.status === 'True' && said.message === message && !hasRecord && !isOutdated) {
    return undefined;
  }
  const unknown = { type: 'Ready', status: 'Unknown' } as const;
  const yields = { type: conditionType, status: 'True' } as const;
  const next = [...(isOutdated ? [unknown] : []), yields].reduce(
    (list, update) =>
      setCondition(
        list,
        { ...update, reason: conditionType, message },
        { now, generation: metadata.generation ?? 0 },
      ),
    conditions,
  );
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    status: { conditions: next, ...(hasRecord ? { applied: null } : {}) },
  };
}

/** Whether our condition Ready is about an earlier spec; that of the deployed controller has no time. */
function isReadyOutdated(conditions: readonly Condition[], generation: number | undefined) {
  const ready = findCondition(conditions, 'Ready');
  return ready?.lastTransitionTime !== undefined && ready.observedGeneration !== generation;
}
