import { annotations } from '../../api/names.ts';
import type { Change } from '../../kube/cache/store.ts';
import type { Job, Node, Pod } from '../../kube/core-resources.ts';
import { type KubeObject, refOf } from '../../kube/object.ts';
import { isFailing, jobEndOf, terminatedOf } from '../jobs/evidence.ts';
import { isReady, machineOf, readySince, systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf, type Stores } from '../objects/stores.ts';
import { findTarget, keysAbout } from '../target.ts';
import { isRunningPod } from './legacy-controller.ts';

/** Objects that wait for a free agent slot. */
export interface WaitingObjects {
  /** Removes and returns the keys that may retry. */
  wake(): readonly string[];
}

/**
 * Returns keys of objects affected by this object's change: a different node reference, or one duplicate more or less.
 */
export function keysOfConfig(stores: Stores, change: Change<NodeConfig>): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  if (change.type === 'updated' && identity(change.object) === identity(change.previous)) {
    return [change.key];
  }
  const related = versions.flatMap((config) => {
    const target = findTarget(config, stores.nodeDirectory);
    return [
      stores.configDirectory.byInstanceId(instanceIdOf(config) ?? ''),
      stores.configDirectory.byNodeName(nodeNameOf(config)),
      // An object may refer by name to the node that another object refers to by systemUUID.
      target.kind === 'node' ? keysAbout(target.node, stores.configDirectory) : [],
    ].flatMap((keys) => (keys.length > mostWoken ? [] : keys));
  });
  return [...new Set([change.key, ...related])];
}

/** Above this number of duplicates one more or less changes nothing: none is applied. */
const mostWoken = 10;

function identity(config: NodeConfig): string {
  const leaving = config.metadata.deletionTimestamp !== undefined;
  return JSON.stringify([instanceIdOf(config), nodeNameOf(config), leaving]);
}

/**
 * Returns keys of objects affected by a Node that was added, deleted, replaced, or became Ready: applied work may need
 * repetition. A Node that became not ready frees run slots, and waiting objects wake.
 */
export function keysOfNode(
  { configDirectory }: Stores,
  admission: WaitingObjects,
  change: Change<Node>,
): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  const uuids = new Set(versions.map((node) => systemUuidOf(node) ?? ''));
  // A heartbeat does not change the node's identity.
  if (change.type === 'updated' && identityOf(change.object) === identityOf(change.previous)) {
    return [];
  }
  const related = [
    ...[...uuids].flatMap((uuid) => configDirectory.byInstanceId(uuid)),
    ...configDirectory.byNodeName(change.object.metadata.name),
  ];
  const woken = isReady(change.object) === false ? admission.wake() : [];
  return [...related, ...woken];
}

/** A broken watch misses events: a Ready toggle in between shows only in the transition time. */
function identityOf(node: Node): string {
  return JSON.stringify([machineOf(node), systemUuidOf(node), isReady(node), readySince(node)]);
}

/** Lookups for agent Jobs and Pods. */
export interface Agents {
  readonly admission: WaitingObjects;
  /** Objects in other namespaces belong to another controller. */
  readonly namespace: string;
  readonly recordsOf: Stores['recordsOf'];
  readonly configs: Stores['configDirectory'];
}

/** Returns the Job's object, and waiting objects if the Job frees a slot. */
export function keysOfJob(agents: Agents, change: Change<Job>): string[] {
  const { admission, namespace } = agents;
  const { object, type } = change;
  const leaves =
    type === 'deleted' ||
    jobEndOf(object) !== undefined ||
    isFailing(object) ||
    object.metadata.deletionTimestamp !== undefined;
  const owner = ownerKey(object, namespace);
  const concerned = owner.length > 0 ? owner : contested(agents, object);
  return [...concerned, ...(leaves ? admission.wake() : [])];
}

/** Returns objects whose node an agent from another namespace works on. */
function contested({ recordsOf, configs }: Agents, { spec }: Job): readonly string[] {
  const node = spec?.template.spec?.nodeName;
  return node === undefined ? [] : [...recordsOf(node), ...configs.byNodeName(node)];
}

/** Returns the Pod's object. A Pod's end is known a second before its Job's end. */
export function keysOfPod({ admission, namespace }: Agents, change: Change<Pod>): string[] {
  const leaves = change.type === 'deleted' || terminatedOf(change.object) !== undefined;
  return [...ownerKey(change.object, namespace), ...(leaves ? admission.wake() : [])];
}

function ownerKey({ metadata }: KubeObject, namespace: string): string[] {
  const key = metadata.annotations?.[annotations.config];
  return key !== undefined && refOf(key).namespace === namespace ? [key] : [];
}

/** Returns all objects when the legacy controller starts or stops; other Pods affect none. */
export function keysOfWorkload({ configs }: Stores, change: Change<Pod>): readonly string[] {
  const before = change.type === 'updated' ? change.previous : change.object;
  const ran = change.type !== 'added' && isRunningPod(before);
  const runs = change.type !== 'deleted' && isRunningPod(change.object);
  return ran === runs ? [] : configs.keys();
}

/** Returns all objects when a legacy Job is added or deleted. */
export function keysOfLegacyJob(
  { configs }: Stores,
  admission: WaitingObjects,
  change: Change<Job>,
): readonly string[] {
  if (change.type !== 'updated') return configs.keys();
  return jobEndOf(change.object) ? admission.wake() : [];
}
