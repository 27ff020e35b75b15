import { labels, managedObjects } from '../../api/names.ts';

/** Path of the webhook, as in the legacy system. */
export const webhookPath = '/validate-multinic-protection';

/** Users of the cluster's own components, where controllers have no ServiceAccounts of their own. */
export const exemptUsers: readonly string[] = [
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:apiserver',
  'system:cloud-controller-manager',
];

/** Garbage collector, namespace controller, HPA and the controllers of workloads; kubelets. */
export const exemptGroups: readonly string[] = [
  'system:serviceaccounts:kube-system',
  'system:nodes',
];

/** An UPDATE that changes none of these top-level fields changes no content. */
export const contentFields: readonly string[] = ['spec', 'data', 'binaryData', 'immutable'];

/** Without these labels the webhook and the watches of lifecycle lose sight of an object. */
export const guardedLabels: readonly string[] = [labels.protected, labels.managedByOperator];

/** Scale objects carry no labels of their owner, so that only the name tells whose they are. */
export const scaledNames: readonly string[] = [managedObjects.controller, managedObjects.database];

export function userOf(namespace: string, serviceAccount: string): string {
  return `system:serviceaccount:${namespace}:${serviceAccount}`;
}
