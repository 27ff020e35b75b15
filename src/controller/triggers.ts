import { annotations } from '../api/names.ts';
import type { Change } from '../kube/cache/store.ts';
import type { Job, Node, Pod } from '../kube/core-resources.ts';
import { type KubeObject, keyOf } from '../kube/object.ts';
import type { Admission } from './admit.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf } from './node-config.ts';
import { terminatedOf } from './runs/agent-state.ts';
import { jobEndOf } from './runs/job-end.ts';
import { systemUuidOf } from './target.ts';
import type { World } from './world.ts';

/** Objects that may mean another node, or have a rival more or less, because this object changed. */
export function keysOfConfig({ configDirectory }: World, change: Change<NodeConfig>): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  if (change.type === 'updated' && identity(change.object) === identity(change.previous)) {
    return [change.key];
  }
  const related = versions.flatMap((config) => [
    ...configDirectory.byInstanceId(instanceIdOf(config) ?? ''),
    ...configDirectory.byNodeName(nodeNameOf(config)),
  ]);
  return [...new Set([change.key, ...related.map((config) => keyOf(config))])];
}

function identity(config: NodeConfig): string {
  const leaving = config.metadata.deletionTimestamp !== undefined;
  return JSON.stringify([instanceIdOf(config), nodeNameOf(config), leaving]);
}

/** Objects whose target may be another one because this Node came, went or changed its systemUUID. */
export function keysOfNode({ configDirectory }: World, change: Change<Node>): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  const uuids = new Set(versions.map((node) => systemUuidOf(node) ?? ''));
  // A heartbeat says nothing about who the node is.
  if (change.type === 'updated' && uuids.size === 1) return [];
  const related = [
    ...[...uuids].flatMap((uuid) => configDirectory.byInstanceId(uuid)),
    ...configDirectory.byNodeName(change.object.metadata.name),
  ];
  return related.map((config) => keyOf(config));
}

/** The object that a Job works for, and whoever waits for the place that it leaves. */
export function keysOfJob(admission: Admission, change: Change<Job>): string[] {
  const leaves = change.type === 'deleted' || jobEndOf(change.object) !== undefined;
  return [...ownerKey(change.object), ...(leaves ? admission.wake() : [])];
}

/** The same for a Pod, whose end is known a second before that of its Job. */
export function keysOfPod(admission: Admission, change: Change<Pod>): string[] {
  const leaves = change.type === 'deleted' || terminatedOf(change.object) !== undefined;
  return [...ownerKey(change.object), ...(leaves ? admission.wake() : [])];
}

function ownerKey({ metadata }: KubeObject): string[] {
  const key = metadata.annotations?.[annotations.config];
  return key === undefined ? [] : [key];
}

/** The deployed controller came or went: that is about every object. */
export function keysOfOthersJob(
  { configs }: World,
  admission: Admission,
  change: Change<Job>,
): readonly string[] {
  if (change.type !== 'updated') return configs.list().map((config) => keyOf(config));
  return jobEndOf(change.object) ? admission.wake() : [];
}
