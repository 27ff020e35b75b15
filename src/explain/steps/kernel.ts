import type { NicView, NodeView } from '../../api/read-http.ts';
import { nextFor } from '../next-steps.ts';
import { bootWarningsOf, isAbout } from '../node-messages.ts';
import { nodeKey, type Subject } from '../subject.ts';
import { joined, ofMessage, same, say, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains link and configuration from the agent's latest read. */
export function kernel(subject: Subject): Outcome {
  const { facts, node, nic, port } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic) return unknown('the NIC is not delivered', 'NIC가 전달되지 않았습니다');
  const about = { nodeName: node.nodeName, port, nic };
  if (nic.reason === 'WaitingForNIC') {
    return fail('WaitingForNIC', noLink(subject, nic), nextFor('WaitingForNIC', about));
  }
  if (nic.state !== 'Configured') {
    return unknown('no agent has configured the NIC', 'NIC를 설정한 에이전트가 없습니다');
  }
  const drift = driftOf(node, nic);
  if (drift !== undefined) {
    return warn('Drifted', ofMessage('Drifted', drift), nextFor('Drifted', about));
  }
  return failedCheck(node) ?? asApplied(nic, facts.now);
}

function noLink({ port, node }: Subject, { macAddress, message }: NicView) {
  const server = port?.deviceId ?? node?.instanceId ?? '';
  const neutron = port ? `Neutron: ${port.status}, server ${server}` : `server ${server}`;
  return say(
    `${message || `no link has the MAC ${macAddress}`}; ${neutron}`,
    `MAC ${macAddress}인 링크가 노드에 없습니다; ${neutron}`,
  );
}

/** Returns the differences on the node; older controllers report drift in the condition Drifted only. */
export function driftOf(node: NodeView, nic: NicView): string | undefined {
  if (nic.reason === 'Drifted') return nic.message;
  if (!node.drifted || node.nics.some(({ reason }) => reason === 'Drifted')) return undefined;
  const condition = node.object?.conditions.find(({ type }) => type === 'Drifted');
  const texts = condition?.message?.split('; multinic') ?? [];
  if (condition === undefined) return '';
  const own = texts.find((text) =>
    text.replace(/^multinic/, '').startsWith(`${nic.name.slice(8)} `),
  );
  return own?.replace(/^(multinic)?\d /, '');
}

function failedCheck({ object }: NodeView): Outcome | undefined {
  const drifted = object?.conditions.find(({ type }) => type === 'Drifted');
  if (drifted?.status !== 'Unknown') return undefined;
  const { en, ko } = ofMessage(drifted.reason ?? '', drifted.message);
  return unknown(
    `the last check of the node failed: ${en}`,
    `노드의 마지막 확인이 실패했습니다: ${ko}`,
  );
}

function asApplied({ checkedAt, carrier }: NicView, now: Date): Outcome {
  const at = since(checkedAt, now, ['checked', '확인']);
  const link =
    carrier === undefined
      ? say('', '')
      : carrier
        ? say(', the link has a carrier', ', 링크에 캐리어가 있습니다')
        : say(', the link has no carrier', ', 링크에 캐리어가 없습니다');
  return ok(
    say(
      `the node has what was applied${link.en}${at.en}`,
      `노드가 적용된 상태와 같습니다${link.ko}${at.ko}`,
    ),
  );
}

/** Explains whether a boot restores the NIC. */
export function bootFiles({ facts, node, nic }: Subject): Outcome {
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || nic?.state !== 'Configured') {
    return unknown('no agent has configured the NIC', 'NIC를 설정한 에이전트가 없습니다');
  }
  const warnings = bootWarningsOf(node).filter((each) => isAbout(each, nic.name));
  const [first] = warnings;
  if (!first) {
    const evidence = say(
      `the files of ${node.backend ?? 'the network manager'} match the configuration`,
      `${node.backend ?? '네트워크 관리 데몬'} 파일이 설정과 같습니다`,
    );
    return ok(evidence);
  }
  const { en, ko } = joined(warnings.map(({ text }) => same(text)));
  const evidence = say(`${nodeKey(node)}: ${en}`, `${nodeKey(node)}: ${ko}`);
  return warn(first.reason, evidence, nextFor(first.reason, { nodeName: node.nodeName }));
}
