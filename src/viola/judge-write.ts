import type { DesiredNode } from '../api/desired-node.ts';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { annotations as names } from '../api/names.ts';
import type { NodeError, PostedNode } from '../api/node-configs-http.ts';
import { isSameJson } from '../api/same-json.ts';
import { toExistingNodeConfig } from './existing-node-config.ts';
import { refusalOf } from './fence.ts';
import { isOf, isOnServer, nodeNameOf } from './node-config.ts';

/** What is to be done about one posted node, given what is there now. */
export type WriteDecision = 'write' | 'unchanged' | NodeError;

/** Decides whether a node may be written over the live object, and whether it has to be. */
export function judge(
  live: MultiNicNodeConfig | undefined,
  { nodeName, base }: PostedNode,
  node: DesiredNode,
  { providerId }: { readonly providerId: string },
  options: { readonly acceptUnfenced: boolean },
): WriteDecision {
  const refusal = refusalOf(live, base, options);
  if (live && holds(live, node, refusal !== undefined)) return 'unchanged';
  // Who wants to create and reads again finds none of this name: only what stands in the way helps.
  const obstacle = obstacleIn(live, node, providerId, base === null);
  if (obstacle && (!refusal || base === null)) return { nodeName, ...obstacle };
  return refusal ? { nodeName, field: 'base', ...refusal } : 'write';
}

type Obstacle = Pick<NodeError, 'code' | 'field' | 'message'>;

/** Why an object that stays is not the node's, or is in no list that its caller can have read. */
function obstacleIn(
  live: MultiNicNodeConfig | undefined,
  node: DesiredNode,
  providerId: string,
  creating: boolean,
): Obstacle | undefined {
  if (!live || live.metadata.deletionTimestamp) return undefined;
  return strangerIn(live, node, providerId) ?? (creating ? unreadableIn(live) : undefined);
}

function unreadableIn(live: MultiNicNodeConfig): Obstacle | undefined {
  const read = toExistingNodeConfig(live);
  if (read.kind === 'held') return undefined;
  return { code: 'Invalid', field: 'nodeName', message: read.node.message };
}

/**
 * Whether nothing has to be written: the object says what was posted. A caller that may not write is content with equal
 * content; its provenance is then not the object's.
 */
function holds(live: MultiNicNodeConfig, node: DesiredNode, mayNotWrite: boolean): boolean {
  const { metadata, spec } = live;
  if (metadata.deletionTimestamp || !isSameJson(spec, node.spec)) return false;
  const { labels, annotations } = node;
  return (
    mayNotWrite || (covers(metadata.labels, labels) && covers(metadata.annotations, annotations))
  );
}

/** Two node names can come to one object name, and two providers to one namespace; neither takes the other's NICs. */
function strangerIn(
  live: MultiNicNodeConfig,
  { spec }: DesiredNode,
  providerId: string,
): Obstacle | undefined {
  const nodeName = nodeNameOf(live);
  const called = `the object ${live.metadata.name} belongs to`;
  if (!isOf(providerId, live)) {
    const message = `${called} provider "${live.spec.providerId}"; register this cluster under that id, or annotate the object with ${names.takeOver}`;
    return { code: 'Invalid', field: 'providerId', message };
  }
  if (nodeName === spec.nodeName || isOnServer(live, spec.instanceId)) return undefined;
  const message = `${called} node "${nodeName}"; rename one of them`;
  return { code: 'Invalid', field: 'nodeName', message };
}

type Texts = Readonly<Record<string, string>>;

function covers(held: Texts = {}, wanted: Texts): boolean {
  return Object.entries(wanted).every(([key, value]) => held[key] === value);
}
