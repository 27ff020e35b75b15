import { labels, managedObjects } from '../../../api/names.ts';

/** Webhook path, as in the legacy system. */
export const webhookPath = '/validate-multinic-protection';

/** Users of cluster components, on clusters whose controllers have no own ServiceAccounts. */
export const exemptUsers: readonly string[] = [
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:apiserver',
  'system:cloud-controller-manager',
];

/** Garbage collector, namespace controller, HPA and workload controllers; kubelets. */
export const exemptGroups: readonly string[] = [
  'system:serviceaccounts:kube-system',
  'system:nodes',
];

/** An UPDATE without changes in these top-level fields changes no content. */
export const contentFields: readonly string[] = ['spec', 'data', 'binaryData', 'immutable'];

/** Without these labels an object is invisible to the webhook and to lifecycle's watches. */
export const guardedLabels: readonly string[] = [labels.protected, labels.managedByOperator];

/** Scale objects carry no owner labels, hence the name decides. */
export const scaledNames: readonly string[] = [managedObjects.controller, managedObjects.database];

export function userOf(namespace: string, serviceAccount: string): string {
  return `system:serviceaccount:${namespace}:${serviceAccount}`;
}
