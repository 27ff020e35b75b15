import { findCondition } from '../../api/condition.ts';
import type { NodeView } from '../../api/read-http.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { isRecent } from '../checks/patience.ts';
import { keyOf } from '../commands.ts';
import type { SystemFacts } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { ignoresObserve, upgradeStep } from '../obstacles.ts';
import type { NextStep } from '../step.ts';
import { isObserved, isSyncedBy, isUnsent, nodeKey, valueOf } from '../subject.ts';
import { ofMessage } from '../wording.ts';
import { type Checked, error, info, warning } from './check.ts';
import { refusedNics } from './refused-nics.ts';

/** Gate for NICs: every planned NIC is configured, or has a finding. Nodes with the same cause share a finding. */
export function notConfigured(nodes: readonly NodeView[], facts: SystemFacts): Checked['findings'] {
  const known = nodes.filter((node) => !isPaused(node) && !isSilent(node));
  const ofNics = refusedNics(known);
  const explained = new Set(
    ofNics.flatMap(({ affected = [] }) => affected.map(({ node }) => node)),
  );
  const others = nodes.filter((node) => !explained.has(nodeKey(node)));
  return [...ofNics, ...others.flatMap((node) => ofNode(node, facts))];
}

function isPaused({ reason, ready }: NodeView): boolean {
  return reason === 'Paused' && ready !== 'True';
}

function isSilent({ state, ready }: NodeView): boolean {
  return state === 'Unknown' && ready === 'Unknown';
}

/** Returns findings about a node without refused NICs. */
function ofNode(node: NodeView, facts: SystemFacts): Checked['findings'] {
  const key = nodeKey(node);
  const { ready, reason, message, nodeName } = node;
  const about = { nodeName, config: node.config, code: holdCodeOf(message) };
  if (isPaused(node)) return [paused(node, nextFor(reason, about))];
  if (isSilent(node)) return withoutStatus(node, facts);
  if (isObserved(node)) return unsentOf(node, facts);
  if (ready !== 'False') return unfinished(node, facts);
  return [error(key, reason, ofMessage(reason, message), nextFor(reason, about))];
}

function paused(node: NodeView, next: NextStep): Checked['findings'][number] {
  const { reason, message } = node;
  return ignoresObserve(node)
    ? warning(nodeKey(node), 'Observed', existingNicsTexts.controllerTooOld, upgradeStep())
    : warning(nodeKey(node), reason, ofMessage(reason, message), next);
}

/** The OpenstackConfig's finding names the mode; only NICs missing from the object are left. */
function unsentOf(node: NodeView, facts: SystemFacts): Checked['findings'] {
  return node.nics.some((nic) => isUnsent(node, nic)) ? unsent(node, facts) : [];
}

/** A new node has no status at first, and the list is as old as the last sync. */
function withoutStatus(node: NodeView, facts: SystemFacts): Checked['findings'] {
  const { reason, message, providerId, nodeName, nics } = node;
  const isKnown = reason === 'StatusUnsupported' || reachable(providerId, facts) === false;
  if (isKnown || nics.length === 0) return [];
  const key = nodeKey(node);
  const evidence = ofMessage('NoNodeStatus', message);
  if (isProgressing(node, facts)) return [info(key, 'NoNodeStatus', evidence)];
  const next = nextFor('NoNodeStatus', { nodeName });
  return [warning(key, 'NoNodeStatus', evidence, next)];
}

/** Returns the connection to a business cluster; undefined: unread. */
function reachable(provider: string, { clusters }: SystemFacts): boolean | undefined {
  return valueOf(clusters)?.find(({ providerId }) => providerId === provider)?.reachable;
}

function configOf({ config }: NodeView, { configs }: SystemFacts) {
  return valueOf(configs)?.find((each) => keyOf(each) === config);
}

/** True after a recent change on the node, or to NICsReady. */
function isProgressing(node: NodeView, facts: SystemFacts): boolean {
  const { conditions } = configOf(node, facts)?.status ?? {};
  const ready = findCondition(conditions, 'NICsReady');
  const times = [ready?.lastTransitionTime, ...node.nics.map(({ changedAt }) => changedAt)];
  return times.some((at) => isRecent(at, facts.now));
}

/** Reasons for a node behind earlier nodes. */
const behindOthers: ReadonlySet<string> = new Set(['WaitingForTurn', 'RolloutWaiting']);

/** Returns a finding for a node with neither configured nor failed NICs. */
function unfinished(node: NodeView, facts: SystemFacts): Checked['findings'] {
  const { ready, nics } = node;
  const open = nics.filter(({ state }) => state !== 'Configured');
  if (ready === 'True' && open.length === 0) return [];
  const key = nodeKey(node);
  if (open.some((nic) => isUnsent(node, nic))) return unsent(node, facts);
  const reason = node.reason || open.find((nic) => nic.reason !== '')?.reason || 'SpecChanged';
  const evidence = ofMessage(reason, node.message);
  // The finding about the connection is the cause, and the node's status is old.
  const isOld = reachable(node.providerId, facts) === false;
  if (isOld || isProgressing(node, facts)) return [info(key, reason, evidence)];
  const make = behindOthers.has(reason) ? warning : error;
  return [make(key, reason, evidence, stepFor(reason, node))];
}

/** Reasons from a controller at work. */
const atWork: ReadonlySet<string> = new Set(['SpecChanged', 'JobScheduled']);

/** The controller's work ends within the patience. */
function stepFor(reason: string, { nodeName, config }: NodeView): NextStep {
  return nextFor(atWork.has(reason) ? 'NoNodeStatus' : reason, { nodeName, config });
}

/** A failed, paused or waiting OpenstackConfig has its own finding. */
function unsent(node: NodeView, facts: SystemFacts): Checked['findings'] {
  const { conditions } = configOf(node, facts)?.status ?? {};
  const isSynced = isSyncedBy(findCondition(conditions, 'Ready'));
  const evidence = doctorTexts.nicsNotSent;
  if (!isSynced || isProgressing(node, facts)) return [info(nodeKey(node), 'Waiting', evidence)];
  const next = nextFor('NotSyncedYet', { config: node.config });
  return [error(nodeKey(node), 'Waiting', evidence, next)];
}
