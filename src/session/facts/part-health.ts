import type { PartHealth, PartVersion } from '../../explain/facts.ts';
import type { Deployment } from '../../kube/core-resources.ts';
import type { Session } from '../access/session.ts';
import { readPodsNotStarted } from './pods-not-started.ts';

/** The part of a Deployment. */
type PartOf = Pick<PartHealth, 'part' | 'providerId'>;

/** Returns a part's health by its Deployment; reads its Pods if the Deployment names no problem. */
export async function healthOf(
  session: Session,
  { part, providerId }: PartOf,
  deployment: Deployment,
  leader?: string,
): Promise<PartHealth> {
  const problem = problemOf(deployment);
  const isUpdating = problem === undefined && isInRollout(deployment);
  const isSettled = problem === undefined && !isUpdating;
  const notStarted = isSettled ? [] : await readPodsNotStarted(session, deployment, providerId);
  return {
    part,
    providerId,
    namespace: deployment.metadata.namespace,
    ...countsOf(deployment),
    leader,
    problem,
    ...(isUpdating && { isUpdating }),
    ...(notStarted && notStarted.length > 0 && { notStarted }),
  };
}

function countsOf({ spec, status }: Deployment) {
  return { replicas: spec?.replicas ?? 1, readyReplicas: status?.readyReplicas ?? 0 };
}

/** Condition types in the order of their messages' precision, with the bad status. */
const badConditions = [
  ['ReplicaFailure', 'True'],
  ['Progressing', 'False'],
  ['Available', 'False'],
] as const;

/** True while the Deployment replaces its Pods; a field without value does not count. */
function isInRollout({ metadata: { generation = 0 }, spec, status = {} }: Deployment): boolean {
  const { replicas = 0, updatedReplicas, observedGeneration = generation } = status;
  const isReplaced =
    updatedReplicas === undefined || updatedReplicas >= Math.max(spec?.replicas ?? 1, replicas);
  return !isReplaced || observedGeneration < generation;
}

/** Returns the Deployment's most exact message; undefined: all replicas are ready, and no condition is bad. */
function problemOf(deployment: Deployment): string | undefined {
  const { replicas, readyReplicas } = countsOf(deployment);
  if (replicas === 0) return 'scaled to 0 replicas';
  const { conditions = [] } = deployment.status ?? {};
  const worst = badConditions.flatMap(([type, bad]) =>
    conditions.filter((each) => each.type === type && each.status === bad),
  );
  const [first] = worst;
  if (first === undefined && readyReplicas >= replicas) return undefined;
  return first?.message ?? 'not all replicas are ready';
}

/** Returns the build by the label of the chart; other installations have none. */
export function versionsOf({ part, providerId }: PartOf, { metadata }: Deployment): PartVersion[] {
  const version = metadata.labels?.['app.kubernetes.io/version'];
  return version === undefined || part === 'inventory' ? [] : [{ part, providerId, version }];
}
