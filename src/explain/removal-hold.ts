import { findCondition } from '../api/condition.ts';
import type { NodeView } from '../api/read-http.ts';
import { holdCodeOf } from '../api/removals.ts';
import type { StepName } from '../api/step-names.ts';
import { amount, filled, type Wording } from '../api/texts/text.ts';
import { whyTexts } from '../api/texts/why.ts';
import { nextFor } from './next-steps.ts';
import { fail, type Outcome } from './steps/outcome.ts';
import { nodeKey, type PortConfigView, type Subject } from './subject.ts';
import { ageOf, ofMessage } from './wording.ts';

/** NIC on a node, with a removal pending consent. */
export interface RemovalHold {
  /** Step that reports the hold: Delivery for the operator's, Acceptance for the controller's. */
  readonly step: StepName;
  readonly outcome: Outcome;
}

/** Returns the hold on the subject's NIC; undefined: no removal waits. */
export function removalHoldOf(subject: Subject): RemovalHold | undefined {
  return heldByController(subject) ?? heldByOperator(subject);
}

/** The controller lists held MAC addresses; the Ready condition has the numbers. */
function heldByController(subject: Subject): RemovalHold | undefined {
  const { node } = subject;
  const held = node?.object?.heldRemovals;
  if (!node || !held || !lists(held.macs, subject)) return undefined;
  const ready = findCondition(node.object?.conditions, 'Ready');
  const message = ready?.reason === reason ? ready.message : held.code;
  const { code = holdCodeOf(message) } = held;
  const next = nextFor(reason, { config: node.config, code, nodeName: node.nodeName });
  const evidence = evidenceOf(node, held, message, subject.facts.now);
  return { step: 'Acceptance', outcome: fail(reason, evidence, next) };
}

function lists(macs: readonly string[], { port, nic }: Subject): boolean {
  const mac = (port?.macAddress ?? nic?.macAddress)?.toLowerCase();
  return macs.some((each) => each.toLowerCase() === mac);
}

type Held = NonNullable<NonNullable<NodeView['object']>['heldRemovals']>;

function evidenceOf(
  node: NodeView,
  { macs, since }: Held,
  message: string | undefined,
  now: Date,
): Wording {
  const why = ofMessage(reason, message);
  const age = ageOf(since, now);
  const period = age.en === '' ? age : filled(whyTexts.period, { age });
  return filled(whyTexts.keepsNics, {
    node: nodeKey(node),
    nics: amount(macs.length, 'NIC'),
    period,
    why,
  });
}

/** The operator leaves a held NIC in the object; a selected port is not held. */
function heldByOperator(subject: Subject): RemovalHold | undefined {
  const { config } = subject;
  if (config?.reason !== reason || config.ready === 'True') return undefined;
  if (!isNic(subject) || isWanted(subject, config)) return undefined;
  const evidence = ofMessage(reason, config.message);
  const next = nextFor(reason, { config: config.config, code: holdCodeOf(config.message) });
  return { step: 'Delivery', outcome: fail(reason, evidence, next) };
}

function isNic({ nic, port }: Subject): boolean {
  return nic !== undefined || port?.verdict?.nic !== undefined;
}

/** True if the port is attached to the node's server and still selected. */
function isWanted(
  { node, port }: Subject,
  { selectsServer, selectsSubnet }: PortConfigView,
): boolean {
  const isDetached = port !== undefined && node !== undefined && port.deviceId !== node.instanceId;
  return selectsServer !== false && selectsSubnet !== false && !isDetached;
}

const reason = 'RemovalHeld';
