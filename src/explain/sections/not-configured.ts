import { findCondition } from '../../api/condition.ts';
import type { NodeView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { doctorTexts } from '../../api/texts/doctor.ts';
import { filled } from '../../api/texts/text.ts';
import { isRecent } from '../checks/patience.ts';
import { keyOf, multinic } from '../commands.ts';
import type { SystemFacts } from '../facts.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import type { NextStep } from '../step.ts';
import { isUnsent, nodeKey, valueOf } from '../subject.ts';
import { joined, ofMessage } from '../wording.ts';
import { type Checked, error, info, warning } from './check.ts';

/** Gate for NICs: every planned NIC is configured, or has a finding. */
export function notConfigured(node: NodeView, facts: SystemFacts): Checked['findings'] {
  const key = nodeKey(node);
  const { ready, state, reason, message, nodeName } = node;
  const about = { nodeName, config: node.config, code: holdCodeOf(message) };
  if (reason === 'Paused' && ready !== 'True') {
    return [warning(key, reason, ofMessage(reason, message), nextFor(reason, about))];
  }
  if (state === 'Unknown' && ready === 'Unknown') return withoutStatus(node, facts);
  const ofNics = failedNics(node);
  if (ofNics.length > 0) return ofNics;
  if (ready !== 'False') return unfinished(node, facts);
  return [error(key, reason, ofMessage(reason, message), nextFor(reason, about))];
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
  const isSynced = findCondition(conditions, 'Ready')?.status === 'True';
  const evidence = doctorTexts.nicsNotSent;
  if (!isSynced || isProgressing(node, facts)) return [info(nodeKey(node), 'Waiting', evidence)];
  const next = nextFor('NotSyncedYet', { config: node.config });
  return [error(nodeKey(node), 'Waiting', evidence, next)];
}

/** Returns a finding per NIC reason; empty: no NIC failed, or the node's own reason applies to every NIC. */
function failedNics(node: NodeView): Checked['findings'] {
  const isRefused = node.ready === 'False';
  const isOfNode = rowOf(node.reason)?.scope === 'node' && node.reason !== 'InvalidEntries';
  if (isRefused && isOfNode) return [];
  const open = node.nics.filter(({ state }) =>
    isRefused ? state !== 'Configured' : state === 'Failed',
  );
  const reasonOf = (reason: string) => reason || node.reason || 'NICsNotConfigured';
  return [...Map.groupBy(open, (nic) => reasonOf(nic.reason))].map(([reason, nics]) => {
    const [first] = nics;
    const texts = nics.map((nic) => {
      const { name } = nic;
      const text = ofNic(reason, nic);
      return filled(doctorTexts.ofNic, { name, text });
    });
    const subject = `${node.nodeName}/${first?.name ?? ''}`;
    const text = rowOf(reason)?.action ?? doctorTexts.lookAtNic;
    const next = { text, commands: [multinic('why', subject)], preview: [] };
    return error(nodeKey(node), reason, joined(texts), next);
  });
}
