import { keyOf } from '../../../kube/object.ts';
import type { Problem } from '../../model/accepted.ts';
import type { OperatorObject } from '../../model/multinicoperator.ts';

/** CronJob and PodDisruptionBudget are v1 since 1.21. */
const oldestMinor = 21;
const longestLabel = 63;

/** Returns why lifecycle ignores this MultiNicOperator; undefined: lifecycle manages the object. */
export function whyNotOurs(
  operator: OperatorObject,
  all: readonly OperatorObject[],
  namespace: string,
  kubernetesMinor: number,
): Problem | undefined {
  const { metadata } = operator;
  if (metadata.namespace !== namespace) {
    return {
      field: 'metadata.namespace',
      message: `metadata.namespace "${metadata.namespace}": lifecycle installs into its own namespace only; create this object in ${namespace}`,
    };
  }
  if (kubernetesMinor < oldestMinor) {
    return {
      field: 'metadata',
      message: `Kubernetes 1.${kubernetesMinor} is too old for a MultiNicOperator; upgrade to 1.${oldestMinor}, or install the charts without lifecycle`,
    };
  }
  if (metadata.name.length > longestLabel) {
    return {
      field: 'metadata.name',
      message: `metadata.name "${metadata.name}" is longer than ${longestLabel} characters, the limit for labels of the managed objects; create this object with a shorter name`,
    };
  }
  const oldest = oldestIn(all, namespace) ?? operator;
  if (keyOf(oldest) === keyOf(operator)) return undefined;
  return {
    field: 'metadata.name',
    message: `metadata.name "${metadata.name}": a cluster has one MultiNicOperator, and ${oldest.metadata.name} is older; delete one of them`,
  };
}

/** Returns the MultiNicOperator that lifecycle manages; undefined: none. */
export function oldestIn(
  all: readonly OperatorObject[],
  namespace: string,
): OperatorObject | undefined {
  return all.filter((one) => one.metadata.namespace === namespace).toSorted(byAge)[0];
}

function byAge(a: OperatorObject, b: OperatorObject): number {
  const [first = '', second = ''] = [a, b].map(({ metadata }) => metadata.creationTimestamp);
  if (first !== second) return first < second ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
