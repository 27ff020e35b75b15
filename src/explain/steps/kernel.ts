import type { NicView, NodeView } from '../../api/read-http.ts';
import { filled } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { nextFor } from '../next-steps.ts';
import { bootWarningsOf, isAbout } from '../node-messages.ts';
import { nodeKey, type Subject } from '../subject.ts';
import { followed, joined, ofMessage, same, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains link and configuration from the agent's latest read. */
export function kernel(subject: Subject): Outcome {
  const { facts, node, nic, port } = subject;
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || !nic) return unknown(whyTexts.notDelivered);
  if (nic.state === 'Observed') return unknown(whyTexts.noAgentConfigured);
  const about = { nodeName: node.nodeName, port, nic };
  if (nic.reason === 'WaitingForNIC') {
    return fail('WaitingForNIC', noLink(subject, nic), nextFor('WaitingForNIC', about));
  }
  if (nic.state !== 'Configured') {
    return unknown(whyTexts.noAgentConfigured);
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
  const { en, ko } = filled(whyTexts.noLink, { macAddress });
  return followed({ en: message || en, ko }, same(`; ${neutron}`));
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
  const text = ofMessage(drifted.reason ?? '', drifted.message);
  return unknown(filled(whyTexts.lastCheckFailed, { text }));
}

function asApplied({ checkedAt, carrier }: NicView, now: Date): Outcome {
  const at = since(checkedAt, now, whyTexts.checked);
  const link =
    carrier === undefined ? same('') : carrier ? whyTexts.hasCarrier : whyTexts.hasNoCarrier;
  return ok(filled(whyTexts.asApplied, { link, at }));
}

/** Explains whether a boot restores the NIC. */
export function bootFiles({ facts, node, nic }: Subject): Outcome {
  if (facts.node.state === 'unread') return skipped(facts.node);
  if (!node || nic?.state !== 'Configured') {
    return unknown(whyTexts.noAgentConfigured);
  }
  const warnings = bootWarningsOf(node).filter((each) => isAbout(each, nic.name));
  const [first] = warnings;
  if (!first) {
    const manager = node.backend ? same(node.backend) : whyTexts.networkManager;
    const evidence = filled(whyTexts.bootFilesMatch, { manager });
    return ok(evidence);
  }
  const text = joined(warnings.map((each) => same(each.text)));
  const evidence = filled(whyTexts.ofNode, { node: nodeKey(node), text });
  return warn(first.reason, evidence, nextFor(first.reason, { nodeName: node.nodeName }));
}
