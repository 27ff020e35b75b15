import type { Cluster } from '../cluster.ts';
import { at, isObject, type Json, type JsonObject } from '../objects/json.ts';
import { type KubeObject, type Meta, withMeta } from '../objects/object.ts';
import { create } from '../verbs/create.ts';
import { remove } from '../verbs/delete.ts';
import { update } from '../verbs/update.ts';

const manager = 'kube-controller-manager';

/** Keeps a finished Pod from vanishing before the Job has counted it. */
const trackingFinalizer = 'batch.kubernetes.io/job-tracking';

export type Outcome = 'active' | 'succeeded' | 'failed';

/** How a Job counts a Pod; one that is being deleted before it finished has failed. */
export function outcomeOf(pod: KubeObject): Outcome {
  const phase = at(pod, 'status', 'phase');
  if (phase === 'Succeeded') return 'succeeded';
  return phase === 'Failed' || pod.metadata.deletionTimestamp !== undefined ? 'failed' : 'active';
}

/** True while containers of the Pod may still run. */
export function mayRun(pod: KubeObject): boolean {
  const phase = at(pod, 'status', 'phase');
  return phase !== 'Succeeded' && phase !== 'Failed';
}

export function isReady(pod: KubeObject): boolean {
  const conditions = at(pod, 'status', 'conditions');
  return (
    Array.isArray(conditions) &&
    conditions.some((one: Json) => at(one, 'type') === 'Ready' && at(one, 'status') === 'True')
  );
}

/** The key of the Job that controls a Pod. */
export function jobKeyOf(pod: KubeObject): string | undefined {
  const owner = pod.metadata.ownerReferences?.find((one) => one.controller && one.kind === 'Job');
  return owner && `${pod.metadata.namespace ?? ''}/${owner.name}`;
}

/** The Pods that a Job controls. */
export function podsOf(cluster: Cluster, job: KubeObject): readonly KubeObject[] {
  return cluster.storage
    .each('pods')
    .filter((pod) => pod.metadata.ownerReferences?.some((one) => one.uid === job.metadata.uid));
}

export function isTracked(pod: KubeObject): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;
}

/** Takes the tracking finalizer off: the Pod is counted, or nobody is there to count it. */
export function untrack(cluster: Cluster, pod: KubeObject): void {
  update(cluster, podTarget(cluster, pod), withoutTracking, { manager });
}

function withoutTracking(pod: KubeObject): KubeObject {
  const left = (pod.metadata.finalizers ?? []).filter((one) => one !== trackingFinalizer);
  return withMeta(pod, { finalizers: left.length > 0 ? left : undefined });
}

export function deletePod(cluster: Cluster, pod: KubeObject): void {
  remove(cluster, podTarget(cluster, pod), {});
}

/** Makes one Pod from the Job's template. */
export function createPod(cluster: Cluster, job: KubeObject): void {
  const template = at(job, 'spec', 'template') as JsonObject;
  const own = (isObject(template['metadata']) ? template['metadata'] : {}) as Partial<Meta>;
  const { name, namespace, uid = '' } = job.metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid };
  const metadata: Meta = {
    ...own,
    name: '',
    generateName: `${name}-`,
    finalizers: [...(own.finalizers ?? []), trackingFinalizer],
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: template['spec'] ?? {} };
  create(cluster, { type: podTarget(cluster, job).type, namespace }, pod, { manager });
}

function podTarget(cluster: Cluster, { metadata }: KubeObject): Parameters<typeof remove>[1] {
  const type = cluster.types.find('v1', 'pods');
  if (!type) throw new Error('the kind Pod is not registered');
  return { type, namespace: metadata.namespace, name: metadata.name };
}
