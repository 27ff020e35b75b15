import { annotations, managedObjects } from '../../../api/names.ts';
import { deployments } from '../../../kube/core-resources.ts';
import type { ObjectRef } from '../../../kube/object.ts';
import type { Notice, Observed } from '../../model/stage.ts';

/** Requeue delays: no watch shows a user's scale-up from 0, or the end of a Pod. */
const activeMs = 30_000;
const endingMs = 2_000;

/** Restrictions on lifecycle caused by the legacy controller. */
export interface LegacyPlan {
  /** Legacy Deployments to scale to 0 now. */
  readonly stop: readonly ObjectRef[];
  readonly notice: Notice;
  readonly requeueAfterMs: number;
}

/** Returns undefined when no legacy controller runs in the namespace: two controllers would work against each other. */
export function legacyPlan(observed: Observed): LegacyPlan | undefined {
  const { objects, operator, namespace, legacyPods = [] } = observed;
  const name = managedObjects.legacyController;
  const legacy = objects.find(deployments, name);
  if (!legacy) return undefined;
  if ((legacy.spec?.replicas ?? 1) === 0) {
    if (legacyPods.length === 0) return undefined;
    const message = `Deployment ${name} is scaled to 0; the operator is installed when its Pods are gone (${legacyPods.length} left)`;
    return { stop: [], notice: noticeOf(message), requeueAfterMs: endingMs };
  }
  const isTakenOver = operator.metadata.annotations?.[annotations.takeOver] !== undefined;
  if (isTakenOver) {
    const message = `Deployment ${name} is being scaled to 0; the operator is installed when its Pods are gone`;
    return { stop: [{ namespace, name }], notice: noticeOf(message), requeueAfterMs: endingMs };
  }
  const message = `Deployment ${name} of the legacy system runs in ${namespace}, so the operator is not installed; to replace it: kubectl -n ${namespace} annotate multinicoperator ${operator.metadata.name} ${annotations.takeOver}=true`;
  return { stop: [], notice: noticeOf(message), requeueAfterMs: activeMs };
}

function noticeOf(message: string): Notice {
  return { condition: 'OtherControllerActive', reason: 'LegacyControllerRuns', message };
}
