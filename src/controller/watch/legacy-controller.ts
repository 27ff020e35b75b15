import { type Condition, findCondition, setCondition } from '../../api/condition.ts';
import { otherControllerActive } from '../../api/legacy-status.ts';
import { annotations, labels, legacyControllerName } from '../../api/names.ts';
import { type Change, Store } from '../../kube/cache/store.ts';
import type { Job, Pod } from '../../kube/core-resources.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { jobEndOf } from '../jobs/evidence.ts';
import type { NodeConfig, Stores } from '../objects/stores.ts';

/** Selector for the legacy controller's Jobs, which run in the objects' namespace. */
export const legacyJobsSelector = `${labels.managedBy}=${legacyControllerName}`;

const conditionType = otherControllerActive;

/** Detection of a legacy controller that owns this cluster. */
export interface OtherController {
  readonly jobs: Store<Job>;
  readonly pods: Store<Pod>;
  /** True if a legacy agent runs on the node. */
  readonly occupies: (node: string) => boolean;
  /** Returns why this controller must not touch the object, and what to do; undefined: it may. */
  readonly owns: (config: NodeConfig) => string | undefined;
  /** True if a legacy controller Pod exists or existed within the last minute. */
  readonly isRunning: () => boolean;
}

export interface OtherControllerOptions {
  /** True if the whole cluster was taken over from the legacy controller. */
  readonly takeOver: boolean;
  readonly foreign: Stores['foreign'];
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** An evicted, drained or rolled Pod gets a successor, unless its Deployment was scaled to 0. */
const successorWithinMs = 60_000;

const takeItOver =
  `stop it permanently, then set the annotation ${annotations.takeOver}=true on the object ` +
  'or start this controller with --take-over true';

const wroteStatus = 'the legacy controller wrote the status of';
/** Earlier releases stored this text in the condition. */
const wroteStatusBefore = 'the deployed controller wrote the status of';

/**
 * Detects the legacy controller: two controllers must never change one node. While the legacy controller runs, nothing
 * is taken over, whatever annotation or flag is set. It may run in an unwatched namespace, and its Jobs live one
 * second. Therefore its status fields, and our condition from an earlier detection, count until a user orders the
 * take-over.
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
    if (pod) return `Pod ${keyOf(pod)} runs the legacy controller: ${next}`;
    if (clock.monotonicMs() - leftAt >= successorWithinMs) return undefined;
    return `a Pod of the legacy controller has just ended, another may follow: ${next}`;
  }

  function evidenceOn({ status }: NodeConfig): string | undefined {
    // Checked before the Jobs, which come and go: a message depending on Jobs would be rewritten each time.
    const foreign = options.foreign();
    if (foreign !== undefined) {
      return `${wroteStatus} ${foreign}; ${takeItOver}`;
    }
    if (jobs.size > 0) return `Jobs of the legacy controller are in this namespace; ${takeItOver}`;
    const condition = findCondition(status?.conditions, conditionType);
    // A status no longer in the legacy format was repaired. For past Pods and Jobs this condition is the only evidence.
    if (condition?.status !== 'True') return undefined;
    const { message = '' } = condition;
    const isRepaired = [wroteStatus, wroteStatusBefore].some((text) => message.startsWith(text));
    return isRepaired ? undefined : message || takeItOver;
  }

  return {
    jobs,
    pods,
    occupies: (node) => jobs.byIndex('node', node).some((job) => !jobEndOf(job)),
    owns: (config) => {
      const isTakeOverOrdered =
        options.takeOver || config.metadata.annotations?.[annotations.takeOver] !== undefined;
      return running() ?? (isTakeOverOrdered ? undefined : evidenceOn(config));
    },
    isRunning: () => running() !== undefined,
  };
}

function hasLeft(change: Change<Pod>): boolean {
  if (change.type === 'deleted') return isRunningPod(change.object);
  return change.type === 'updated' && isRunningPod(change.previous) && !isRunningPod(change.object);
}

/** True if the legacy controller runs in the Pod or will start. */
export function isRunningPod({ spec, status }: Pod): boolean {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !ended && runsDeployedController(spec);
}

/** The legacy image holds two programs, hence the command is always set. */
function runsDeployedController(spec: Pod['spec']): boolean {
  return (spec?.containers ?? []).some(({ command = [], args = [] }) =>
    [...command, ...args].some((word) => word.split('/').at(-1) === legacyControllerName),
  );
}

/** Drops everything but identity from Pods without the legacy controller. */
export function slimPod(pod: Pod): Pod {
  const { name, namespace = '', uid = '', resourceVersion = '' } = pod.metadata;
  if (runsDeployedController(pod.spec)) return pod;
  return { metadata: { name, namespace, uid, resourceVersion } };
}

/**
 * Returns a patch that sets condition OtherControllerActive and keeps the rest of the status, with two exceptions. The
 * record is dropped, because it lacks the legacy controller's changes, and an outdated own Ready condition becomes
 * Unknown. Returns undefined if nothing changes. The legacy controller replaces all conditions on each write.
 */
export function yieldPatch(
  { metadata, status, statusKeys }: NodeConfig,
  message: string,
  now: Date,
): unknown {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const condition = findCondition(conditions, conditionType);
  const hasRecord = statusKeys.includes('applied');
  const isOutdated = isReadyOutdated(conditions, metadata.generation);
  if (condition?.status === 'True' && condition.message === message && !hasRecord && !isOutdated) {
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

/** True if our Ready condition is about an earlier spec; the legacy controller's condition has no time. */
function isReadyOutdated(conditions: readonly Condition[], generation: number | undefined) {
  const ready = findCondition(conditions, 'Ready');
  return ready?.lastTransitionTime !== undefined && ready.observedGeneration !== generation;
}
