import { type Cluster, timestamp } from '../cluster.ts';
import { at, isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { update } from '../verbs/update.ts';
import type { ClusterController } from './loop.ts';

const manager = 'kube-scheduler';

/** Gives each Pod without a node the first Ready one whose labels fit its nodeSelector. */
export function scheduler(cluster: Cluster): ClusterController {
  return {
    keys({ resource, key }) {
      if (resource === 'pods') return [key];
      return resource === 'nodes' ? waitingPods(cluster) : [];
    },
    reconcile(key) {
      const pod = cluster.storage.get('pods', key);
      const type = cluster.types.find('v1', 'pods');
      if (!pod || !type || !isWaiting(pod)) return undefined;
      const { namespace, name } = pod.metadata;
      const target = { type, namespace, name };
      const nodes = cluster.storage.list('nodes');
      const node = nodes.find((one) => fits(pod, one));
      if (node) bind(cluster, target, node.metadata.name);
      else reportUnschedulable(cluster, target, nodes.length);
      return undefined;
    },
  };
}

type PodTarget = Parameters<typeof update>[1];

function bind(cluster: Cluster, target: PodTarget, nodeName: string): void {
  const bound = (pod: KubeObject): KubeObject => ({
    ...pod,
    spec: { ...(pod['spec'] as JsonObject), nodeName },
  });
  update(cluster, target, bound, { manager });
  setScheduled(cluster, target, { status: 'True' });
}

function reportUnschedulable(cluster: Cluster, target: PodTarget, nodes: number): void {
  const message = `0/${nodes} nodes are available: no Ready node fits the Pod's nodeSelector.`;
  setScheduled(cluster, target, { status: 'False', reason: 'Unschedulable', message });
}

function setScheduled(cluster: Cluster, target: PodTarget, content: JsonObject): void {
  const lastTransitionTime = timestamp(cluster);
  const change = (pod: KubeObject): KubeObject => {
    const status = isObject(pod['status']) ? pod['status'] : {};
    const conditions = isList(status['conditions']) ? status['conditions'] : [];
    const before = conditions.find((one) => at(one, 'type') === 'PodScheduled');
    if (at(before, 'status') === content['status']) return pod;
    const others = conditions.filter((one) => one !== before);
    const condition: Json = { type: 'PodScheduled', ...content, lastTransitionTime };
    return { ...pod, status: { ...status, conditions: [...others, condition] } };
  };
  update(cluster, target, change, { manager, subresource: 'status' });
}

function waitingPods(cluster: Cluster): readonly string[] {
  return cluster.storage
    .each('pods')
    .filter(isWaiting)
    .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
}

function isWaiting(pod: KubeObject): boolean {
  return !at(pod, 'spec', 'nodeName') && pod.metadata.deletionTimestamp === undefined;
}

function fits(pod: KubeObject, node: KubeObject): boolean {
  const wanted = at(pod, 'spec', 'nodeSelector');
  const labels = node.metadata.labels ?? {};
  const selected = Object.entries(isObject(wanted) ? wanted : {}).every(
    ([key, value]) => labels[key] === value,
  );
  return selected && isReady(node) && at(node, 'spec', 'unschedulable') !== true;
}

function isReady(node: KubeObject): boolean {
  const conditions = at(node, 'status', 'conditions');
  const ready = isList(conditions) && conditions.find((one) => at(one, 'type') === 'Ready');
  return ready ? at(ready, 'status') === 'True' : false;
}
