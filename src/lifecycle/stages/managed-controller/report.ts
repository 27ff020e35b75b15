import { managedObjects } from '../../../api/names.ts';
import { type Deployment, deployments, type Pod } from '../../../kube/core-resources.ts';
import { whyNotRunning } from '../../model/pod-problem.ts';
import type { ControllerReport } from '../../model/reports.ts';
import type { Observed } from '../../model/stage.ts';

/** Returns the operator Deployment's phase, and why a Pod cannot start. */
export function reportOf(
  { objects, pods }: Pick<Observed, 'objects' | 'pods'>,
  wantedReplicas: number | undefined,
): ControllerReport {
  const live = objects.find(deployments, managedObjects.controller);
  if (!live) {
    return { phase: 'Pending', readyReplicas: 0, desiredReplicas: wantedReplicas ?? 1 };
  }
  const { readyReplicas = 0 } = live.status ?? {};
  const counts = { readyReplicas, desiredReplicas: live.spec?.replicas ?? 1 };
  // Before the generation: each change of an annotation makes a generation, and the phase would alternate.
  const message = troubleOf(live, pods);
  if (message !== undefined) return { phase: 'Degraded', ...counts, message };
  if (isBehind(live)) return { phase: 'Progressing', ...counts };
  return { phase: phaseOf(live), ...counts };
}

/** True if the status is about an older generation. */
function isBehind({ metadata, status }: Deployment): boolean {
  return (status?.observedGeneration ?? 0) !== (metadata.generation ?? 0);
}

function troubleOf(live: Deployment, pods: readonly Pod[]): string | undefined {
  const own = pods.filter(({ metadata }) => metadata.labels?.['app'] === managedObjects.controller);
  for (const pod of own) {
    const why = whyNotRunning(pod);
    if (why) return why;
  }
  const refused = conditionOf(live, 'ReplicaFailure');
  return refused?.status === 'True'
    ? `Pods of Deployment ${live.metadata.name} cannot be created: ${refused.message ?? ''}`
    : undefined;
}

function phaseOf(live: Deployment): 'Ready' | 'Progressing' | 'Degraded' {
  const desired = live.spec?.replicas ?? 1;
  const { readyReplicas = 0 } = live.status ?? {};
  if (readyReplicas >= desired) return isRolledOut(live, desired) ? 'Ready' : 'Progressing';
  return isOver(live) ? 'Degraded' : 'Progressing';
}

/** True if the rollout passed its deadline, or completed before a Pod became unready. */
function isOver(live: Deployment): boolean {
  const progress = conditionOf(live, 'Progressing');
  return progress?.status === 'False' || progress?.reason === 'NewReplicaSetAvailable';
}

function isRolledOut({ status }: Deployment, desired: number): boolean {
  const { replicas = 0, updatedReplicas = 0 } = status ?? {};
  return updatedReplicas === desired && replicas === desired;
}

function conditionOf({ status }: Deployment, type: string) {
  return status?.conditions?.find((one) => one.type === type);
}
