import { argsText } from '../../api/args.ts';
import type { DesiredNode } from '../../api/desired-node.ts';
import type { MultiNicNodeConfig, NodeConfigSpec } from '../../api/multinicnodeconfig.ts';
import { annotations as names } from '../../api/names.ts';
import type { NodeError, PostedNode } from '../../api/node-configs-http.ts';
import { isSameJson } from '../../api/same-json.ts';
import { toExistingNodeConfig } from '../node-configs/existing-node-config.ts';
import {
  isOf,
  isOnServer,
  isPausedToObserve,
  isSetToAdopt,
  isSetToObserve,
  nodeNameOf,
} from '../node-configs/node-config.ts';
import { refusalOf } from './fence.ts';

/** Decision about one posted node, given the live object. */
export type WriteDecision = 'write' | 'unchanged' | NodeError;

/** Decides whether a node may be written over the live object, and whether a write is needed. */
export function judge(
  live: MultiNicNodeConfig | undefined,
  { nodeName, base }: PostedNode,
  node: DesiredNode,
  { providerId }: { readonly providerId: string },
  options: { readonly acceptUnfenced: boolean },
): WriteDecision {
  const refusal = refusalOf(live, base, options);
  if (live && holds(live, node, refusal !== undefined)) return 'unchanged';
  // A caller creating a node reads again without finding this name, so only the obstacle is useful to report.
  const obstacle = obstacleIn(live, node, providerId, base === null);
  if (obstacle && (!refusal || base === null)) return { nodeName, ...obstacle };
  return refusal ? { nodeName, field: 'base', ...refusal } : 'write';
}

type Obstacle = Pick<NodeError, 'code' | 'field' | 'message' | 'args'>;

/** Returns why the existing object is not this node's, or is missing from all lists readable by the caller. */
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
  if (read.kind === 'readable') return undefined;
  return { code: 'Invalid', field: 'nodeName', message: read.node.message };
}

/**
 * True if the object already has the posted content. For callers that may not write, equal content suffices; the
 * source annotation may differ, but a posted consent must be present.
 */
function holds(live: MultiNicNodeConfig, node: DesiredNode, mayNotWrite: boolean): boolean {
  const { metadata } = live;
  if (metadata.deletionTimestamp || !hasSpec(live, node)) return false;
  const { labels, annotations } = node;
  if (!mayNotWrite) {
    return covers(metadata.labels, labels) && covers(metadata.annotations, annotations);
  }
  const consent = annotations[names.removalConsent];
  return consent === undefined || covers(metadata.annotations, { [names.removalConsent]: consent });
}

/** Compares specs; a user's own mode, pause and `spec.existingConfiguration` stay without posted ones. */
function hasSpec(live: MultiNicNodeConfig, node: DesiredNode): boolean {
  const { mode, existingConfiguration, ...content } = specOf(live);
  const { mode: wanted, existingConfiguration: consent, ...desired } = node.spec;
  const hasMode =
    wanted === undefined
      ? !isPausedToObserve(live) && !isSetToObserve(live)
      : mode === wanted && isPausedToObserve(live);
  const hasConsent =
    isSetToAdopt(live) === (consent !== undefined) &&
    (consent === undefined || existingConfiguration === consent);
  return hasMode && hasConsent && isSameJson(content, desired);
}

/** Returns the spec; an earlier, looser schema admitted objects without one. */
function specOf({ spec }: { readonly spec?: Partial<NodeConfigSpec> }): Partial<NodeConfigSpec> {
  return spec ?? {};
}

/**
 * Detects another node or provider with the same object name. Two node names may map to one object name, and two
 * providers to one namespace; neither may take over NICs.
 */
function strangerIn(
  live: MultiNicNodeConfig,
  { spec }: DesiredNode,
  providerId: string,
): Obstacle | undefined {
  const nodeName = nodeNameOf(live);
  const called = `MultiNicNodeConfig ${live.metadata.name} belongs to`;
  if (!isOf(providerId, live)) {
    const owner = live.spec.providerId;
    const message = `${called} provider "${owner}", not "${providerId}": if this cluster is registered under both ids, set spec.credentials.k8sProviderID to "${owner}" and delete the registration Secret of "${providerId}"; to change the id of the cluster, follow "One cluster, one id" in the guide register-cluster`;
    return {
      code: 'Invalid',
      field: 'providerId',
      message,
      args: argsText({ owner: owner ?? '' }),
    };
  }
  if (nodeName === spec.nodeName || isOnServer(live, spec.instanceId)) return undefined;
  const message = `${called} node "${nodeName}"; rename one of the two nodes`;
  return { code: 'Invalid', field: 'nodeName', message, args: argsText({ owner: nodeName }) };
}

type Texts = Readonly<Record<string, string>>;

function covers(existing: Texts = {}, wanted: Texts): boolean {
  return Object.entries(wanted).every(([key, value]) => existing[key] === value);
}
