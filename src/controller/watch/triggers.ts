import { annotations } from '../../api/names.ts';
import type { Change } from '../../kube/cache/store.ts';
import type { Job, Node, Pod } from '../../kube/core-resources.ts';
import { type KubeObject, refOf } from '../../kube/object.ts';
import { isFailing, jobEndOf, terminatedOf } from '../jobs/evidence.ts';
import { isReady, machineOf, readySince, systemUuidOf } from '../objects/machine.ts';
import { instanceIdOf, type NodeConfig, nodeNameOf, type Stores } from '../objects/stores.ts';
import type { Admission } from '../scheduling/admission.ts';
import { findTarget, keysAbout } from '../target.ts';
import { isRunningPod } from './legacy-controller.ts';

/** Objects that may mean another node, or have a duplicate more or less, because this object changed. */
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
      // One may mean by its name the node that another one means by its systemUUID.
      target.kind === 'node' ? keysAbout(target.node, stores.configDirectory) : [],
    ].flatMap((keys) => (keys.length > mostWoken ? [] : keys));
  });
  return [...new Set([change.key, ...related])];
}

/** Of more objects than these that mean one node, one more or less changes nothing for the others: none is applied. */
const mostWoken = 10;

function identity(config: NodeConfig): string {
  const leaving = config.metadata.deletionTimestamp !== undefined;
  return JSON.stringify([instanceIdOf(config), nodeNameOf(config), leaving]);
}

/**
 * Objects that this Node is about, when it came, went, became another machine or ready: what was done may have to be done
 * again or elsewhere. A node that is not ready any more makes room for those that wait.
 */
export function keysOfNode(
  { configDirectory }: Stores,
  admission: Admission,
  change: Change<Node>,
): string[] {
  const versions = change.type === 'updated' ? [change.object, change.previous] : [change.object];
  const uuids = new Set(versions.map((node) => systemUuidOf(node) ?? ''));
  // A heartbeat says nothing about who the node is.
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

/** A watch that broke off does not tell what it missed: not ready and ready again shows in since when alone. */
function identityOf(node: Node): string {
  return JSON.stringify([machineOf(node), systemUuidOf(node), isReady(node), readySince(node)]);
}

/** What agents work for, and who waits for one. */
export interface Agents {
  readonly admission: Admission;
  /** Objects of other namespaces are another controller's. */
  readonly namespace: string;
  readonly recordsOf: Stores['recordsOf'];
  readonly configs: Stores['configDirectory'];
}

/** The object that a Job works for, and whoever waits for the place that it leaves. */
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

/** Whose node the agent of another namespace works on. */
function contested({ recordsOf, configs }: Agents, { spec }: Job): readonly string[] {
  const node = spec?.template.spec?.nodeName;
  return node === undefined ? [] : [...recordsOf(node), ...configs.byNodeName(node)];
}

/** The same for a Pod, whose end is known a second before that of its Job. */
export function keysOfPod({ admission, namespace }: Agents, change: Change<Pod>): string[] {
  const leaves = change.type === 'deleted' || terminatedOf(change.object) !== undefined;
  return [...ownerKey(change.object, namespace), ...(leaves ? admission.wake() : [])];
}

function ownerKey({ metadata }: KubeObject, namespace: string): string[] {
  const key = metadata.annotations?.[annotations.config];
  return key !== undefined && refOf(key).namespace === namespace ? [key] : [];
}

/** When the deployed controller is started or stopped, that is about every object; other Pods are about none. */
export function keysOfWorkload({ configs }: Stores, change: Change<Pod>): readonly string[] {
  const before = change.type === 'updated' ? change.previous : change.object;
  const ran = change.type !== 'added' && isRunningPod(before);
  const runs = change.type !== 'deleted' && isRunningPod(change.object);
  return ran === runs ? [] : configs.keys();
}

/** A Job of the deployed controller came or went: that is about every object. */
export function keysOfLegacyJob(
  { configs }: Stores,
  admission: Admission,
  change: Change<Job>,
): readonly string[] {
  if (change.type !== 'updated') return configs.keys();
  return jobEndOf(change.object) ? admission.wake() : [];
}
