import type { NicView, NodeView } from '../../api/read-http.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { nextFor } from '../next-steps.ts';
import { ofNic } from '../nic-code.ts';
import { isUnsent, nodeKey, type Subject } from '../subject.ts';
import { ofMessage, say } from '../wording.ts';
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
    return unknown('the NIC is not delivered', 'NIC가 전달되지 않았습니다');
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
    return unknown(
      `the MultiNicNodeConfig of ${nodeKey(node)} was not read`,
      `${nodeKey(node)}의 MultiNicNodeConfig를 조회하지 못했습니다`,
    );
  }
  if (reason === 'StatusUnsupported') {
    const { en, ko } = ofMessage(reason, message);
    return unknown(en, ko);
  }
  const evidence = say(
    `MultiNicNodeConfig ${nodeKey(node)} has no status: the controller of ${node.providerId} has not handled it${message ? ` (${message})` : ''}`,
    `MultiNicNodeConfig ${nodeKey(node)}에 상태가 없습니다. ${node.providerId}의 컨트롤러가 아직 처리하지 않았습니다${message ? ` (${message})` : ''}`,
  );
  return fail('NoNodeStatus', evidence, nextFor('NoNodeStatus', {}));
}

function blockedOutcome(node: NodeView, nic: NicView): Outcome | undefined {
  const blocked = blockedBy(node);
  if (!blocked) return undefined;
  const [reason, message] = blocked;
  const { en, ko } = ofMessage(reason, message);
  const evidence = say(`${nodeKey(node)}: ${en}`, `${nodeKey(node)}: ${ko}`);
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
  const evidence = say(
    `the controller of ${node.providerId} has handled generation ${observedGeneration} of ${nodeKey(node)}, not ${generation} yet`,
    `${node.providerId}의 컨트롤러가 ${nodeKey(node)}의 generation ${observedGeneration}까지 처리했으며 ${generation}은 아직 처리하지 않았습니다`,
  );
  return fail('SpecChanged', evidence, nextFor('NoNodeStatus', {}));
}

function accepted({ nics, object }: NodeView): Outcome {
  const condition = object?.conditions.find(({ type }) => type === 'Accepted');
  const all = nics.length === 1 ? '1 entry can be used' : `all ${nics.length} entries can be used`;
  const isAll = condition?.status !== 'False';
  return ok(
    isAll
      ? say(all, `항목 ${nics.length}개를 모두 사용할 수 있습니다`)
      : say(
          'the entry can be used; others cannot',
          '이 항목은 사용할 수 있으나 다른 항목 중 사용할 수 없는 것이 있습니다',
        ),
  );
}
