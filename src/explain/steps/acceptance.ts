import type { NicView, NodeView } from '../../api/read-http.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { existingNicsTexts } from '../../api/texts/existing-nics.ts';
import { filled } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { ignoresObserve, upgradeStep } from '../obstacles.ts';
import { isUnsent, nodeKey, type Subject } from '../subject.ts';
import { ofMessage } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Reasons for sending no agent to the node. */
const blocking: ReadonlySet<string> = new Set([
  'DuplicateInstanceId',
  'DuplicateSystemUUID',
  'NodeNotFound',
  'NodeNotReady',
  'OtherControllerActive',
  'Paused',
  'RemovalHeld',
]);

/** Explains whether the controller accepts the entry and finds a single ready Node. */
export function acceptance(subject: Subject): Outcome {
  const { facts, node, nic } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic || isUnsent(node, nic)) {
    return unknown(whyTexts.notDelivered);
  }
  const about = { nodeName: node.nodeName, nic };
  if (nic.reason === 'InvalidEntry') {
    const next = nextFor('InvalidEntry', about);
    return fail('InvalidEntry', ofNic('InvalidEntry', nic), next);
  }
  const status = withoutStatus(node, subject);
  if (status) return status;
  return blockedOutcome(node, nic) ?? outdated(node) ?? accepted(node);
}

function withoutStatus(node: NodeView, { facts, port }: Subject): Outcome | undefined {
  if (node.state !== 'Unknown') return undefined;
  const { reason, message } = node;
  // A node without an object has no status either; only a delivery proves the object's existence.
  if (!node.object && !(facts.cluster.state === 'read' && port?.delivery?.ok)) {
    return unknown(filled(whyTexts.nodeConfigUnread, { node: nodeKey(node) }));
  }
  if (reason === 'StatusUnsupported') {
    return unknown(ofMessage(reason, message));
  }
  const cause = message ? ` (${message})` : '';
  const evidence = filled(whyTexts.noStatus, {
    node: nodeKey(node),
    providerId: node.providerId,
    cause,
  });
  return fail('NoNodeStatus', evidence, nextFor('NoNodeStatus', {}));
}

function blockedOutcome(node: NodeView, nic: NicView): Outcome | undefined {
  const blocked = blockedBy(node);
  if (!blocked) return undefined;
  if (ignoresObserve(node))
    return fail('Observed', existingNicsTexts.controllerTooOld, upgradeStep());
  const [reason, message] = blocked;
  const text = ofMessage(reason, message);
  const evidence = filled(whyTexts.ofNode, { node: nodeKey(node), text });
  const { nodeName, config } = node;
  const code = holdCodeOf(message);
  const next = nextFor(reason, { nodeName, config, nic, code });
  // Held NICs do not stop a configured NIC.
  const isHarmless = reason === 'RemovalHeld' && nic.state === 'Configured';
  return (isHarmless ? warn : fail)(reason, evidence, next);
}

function blockedBy({ ready, reason, message, object }: NodeView) {
  const other = object?.conditions.find(
    ({ type, status }) => type === 'OtherControllerActive' && status === 'True',
  );
  if (other) return ['OtherControllerActive', other.message] as const;
  // InvalidEntries is no blocker here: the controller still configures the accepted entries.
  return ready !== 'True' && blocking.has(reason) ? ([reason, message] as const) : undefined;
}

/** Returns a failure if the controller has not handled the latest generation. */
function outdated(node: NodeView): Outcome | undefined {
  const { object, state, ready, reason, message } = node;
  if (!object && state === 'Pending' && ready === 'Unknown' && reason === '') {
    return fail('SpecChanged', ofMessage('SpecChanged', message), nextFor('NoNodeStatus', {}));
  }
  const { generation = 0, observedGeneration = generation } = object ?? {};
  if (observedGeneration >= generation) return undefined;
  const evidence = filled(whyTexts.generationNotHandled, {
    providerId: node.providerId,
    observedGeneration,
    node: nodeKey(node),
    generation,
  });
  return fail('SpecChanged', evidence, nextFor('NoNodeStatus', {}));
}

function accepted({ nics, object }: NodeView): Outcome {
  const condition = object?.conditions.find(({ type }) => type === 'Accepted');
  const all =
    nics.length === 1
      ? whyTexts.entryUsable
      : filled(whyTexts.entriesUsable, { entries: nics.length });
  const isAll = condition?.status !== 'False';
  return ok(isAll ? all : whyTexts.otherEntriesRefused);
}
