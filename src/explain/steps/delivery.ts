import { messageCodeOf } from '../../api/message-codes.ts';
import type { ClusterView, NodeView, PortView } from '../../api/read-http.ts';
import { blocks } from '../../api/reasons.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { reachIt, unreadViola } from '../missing-texts.ts';
import { nextFor } from '../next-steps.ts';
import type { NextStep } from '../step.ts';
import {
  isUnsent,
  nodeKey,
  type PortConfigView,
  providerOfPort,
  type Subject,
  valueOf,
} from '../subject.ts';
import { checkTime, followed, nextTry, ofMessage, same, since } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains whether the business cluster holds the planned NIC. */
export function delivery(subject: Subject): Outcome {
  const { node } = subject;
  return (
    withoutProvider(subject) ??
    clusterProblem(subject) ??
    refused(subject) ??
    unreadConnection(subject) ??
    unread(subject) ??
    notThere(subject) ??
    delivered(node, subject)
  );
}

/** Without node and OpenstackConfig the business cluster is unknown. */
function withoutProvider(subject: Subject): Outcome | undefined {
  const { facts } = subject;
  if (providerOf(subject) !== undefined) return undefined;
  if (facts.port.state === 'unread') return skipped(facts.port);
  return refused(subject) ?? notThere(subject);
}

function unread({ facts, nic }: Subject): Outcome | undefined {
  const { cluster, node, port } = facts;
  if (cluster.state === 'unread') return skipped(cluster);
  if (node.state === 'unread') return skipped(node);
  return !nic && port.state === 'unread' ? skipped(port) : undefined;
}

function providerOf({ facts, port, node }: Subject): string | undefined {
  const ofPort = port && providerOfPort(port, (facts.configs && valueOf(facts.configs)) ?? []);
  return ofPort ?? node?.providerId;
}

/** Returns why Viola cannot write to the business cluster; undefined: Viola can. */
function clusterProblem(subject: Subject): Outcome | undefined {
  const { cluster } = subject.facts;
  if (cluster.state === 'unread') return undefined;
  if (!cluster.value) return notRegistered(providerOf(subject));
  return cluster.value.reachable === false ? unreachable(cluster.value, subject) : undefined;
}

/** Returns a gap without Viola's answer; the OpenstackConfig's own failure comes first. */
function unreadConnection({ facts: { cluster } }: Subject): Outcome | undefined {
  const view = valueOf(cluster);
  return view && isUnread(view) ? skipped(unreadViola(view)) : undefined;
}

function isUnread({ reachable }: ClusterView): boolean {
  return reachable === undefined;
}

function unreachable(
  { providerId, message, checkedAt }: ClusterView,
  { config, facts }: Subject,
): Outcome {
  const next = nextTry(config?.nextSyncAt, facts.now);
  const at = checkTime(checkedAt);
  const evidence = filled(whyTexts.violaUnreachable, { providerId, message, at, next });
  return fail('ViolaPostError', evidence, reachIt);
}

function notRegistered(provider: string | undefined): Outcome {
  const id = provider ?? 'PROVIDER';
  const evidence = filled(whyTexts.notRegistered, { id });
  return fail('ViolaPostError', evidence, registration(id));
}

/** Returns how a business cluster is registered. */
export function registration(provider: string): NextStep {
  return nextFor('ViolaPostError', { code: 'ClusterNotRegistered', provider });
}

/** Returns the node's failed delivery, or the OpenstackConfig's if no NIC was delivered. */
function refused(subject: Subject): Outcome | undefined {
  const { port, config, node, facts } = subject;
  const last = port?.delivery;
  if (last) return last.ok ? laterFailure(subject) : refusedNode(subject, last);
  const isOpen = !hasObject(node) && config?.ready === 'False';
  if (!isOpen || !blocks(config.reason, 'delivery')) return undefined;
  const { message } = config;
  const about = { config: config.config, port, provider: providerOf(subject) };
  const next = nextFor(config.reason, { ...about, code: messageCodeOf(message) });
  const words = ofMessage(config.reason, config.message);
  const retry = nextTry(config.nextSyncAt, facts.now);
  return fail(config.reason, followed(words, retry), next);
}

/**
 * Returns the OpenstackConfig's failure after the node's delivery: later changes do not arrive. Without Viola's answer the
 * NIC itself is unread.
 */
function laterFailure(subject: Subject): Outcome | undefined {
  const { port, config, facts } = subject;
  const { ready, reason, message } = config ?? {};
  if (ready !== 'False' || reason !== 'ViolaPostError') return undefined;
  const view = valueOf(facts.cluster);
  const isSilent = view && isUnread(view) && facts.node.state === 'unread';
  const make = isSilent ? fail : warn;
  return make(
    reason,
    ofMessage(reason, message),
    nextFor(reason, {
      config: config?.config,
      port,
      code: messageCodeOf(message),
      provider: providerOf(subject),
    }),
  );
}

type LastDelivery = NonNullable<PortView['delivery']>;

function refusedNode(subject: Subject, last: LastDelivery): Outcome {
  const { facts, port, config, nic } = subject;
  const reason = last.reason ?? 'ViolaPostError';
  const evidence = withTimes(ofMessage(reason, last.message), last, config, facts.now);
  const about = { config: config?.config, port, provider: providerOf(subject) };
  const next = nextFor(reason, { ...about, code: messageCodeOf(last.message) });
  // An unread node may have the NIC.
  const mayWork = nic?.state === 'Configured' || facts.node.state === 'unread';
  const isHarmless = mayWork && reason !== 'ViolaPostError';
  return (isHarmless ? warn : fail)(reason, evidence, next);
}

function withTimes(
  text: Wording,
  { at }: LastDelivery,
  config: PortConfigView | undefined,
  now: Date,
): Wording {
  const when = since(at, now, whyTexts.tried);
  const next = nextTry(config?.nextSyncAt, now);
  return followed(text, when, next);
}

function hasObject(node: NodeView | undefined): boolean {
  return node !== undefined && (node.object !== undefined || node.state !== 'Unknown');
}

function notThere(subject: Subject): Outcome | undefined {
  const { port, node, nic } = subject;
  if (!node) {
    const evidence = whyTexts.noConfigDelivers;
    return absent('Waiting', evidence, subject);
  }
  const key = nodeKey(node);
  if (node.object?.deleting) {
    const evidence = filled(whyTexts.beingDeleted, { key });
    return absent('Deleting', evidence, subject);
  }
  if (!nic || isUnsent(node, nic)) {
    const removed = removedText(subject);
    const evidence = filled(whyTexts.portNotListed, { key, removed });
    return absent('Waiting', evidence, subject);
  }
  if (hasObject(node) || port?.delivery?.ok) return undefined;
  return unknown(filled(whyTexts.lastDeliveryUnknown, { key }));
}

/** Returns time and basis for a removal within the last hour; empty: no removal. */
function removedText({ node, port, facts }: Subject): Wording {
  const mac = port?.macAddress.toLowerCase();
  const removed = node?.object?.removed?.find((each) => each.mac.toLowerCase() === mac);
  if (!removed) return same('');
  const { basis, at } = removed;
  const when = since(at, facts.now, whyTexts.removed);
  return filled(whyTexts.nicRemoved, { basis, when });
}

function absent(reason: 'Waiting' | 'Deleting', evidence: Wording, { config, port }: Subject) {
  const about = { config: config?.config, port };
  return fail(reason, evidence, nextFor(reason === 'Waiting' ? 'NotSyncedYet' : reason, about));
}

function delivered(node: NodeView | undefined, { facts, port }: Subject): Outcome {
  const { generation, specHash } = node?.object ?? {};
  const details = [
    ...(node ? [nodeKey(node)] : []),
    ...(generation === undefined ? [] : [`generation ${generation}`]),
    ...(specHash ? [`specHash ${specHash.slice(0, 8)}`] : []),
  ].join(', ');
  const at = since(port?.delivery?.at, facts.now, whyTexts.delivered);
  return ok(followed(same(details), at));
}
