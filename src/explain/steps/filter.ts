import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { PortView } from '../../api/read-http.ts';
import { rowOf } from '../../api/reasons.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import { whyTexts } from '../../api/texts/why.ts';
import { nextFor } from '../next-steps.ts';
import { nicNameOf, nodeNameOf, type Subject } from '../subject.ts';
import { ofMessage } from '../wording.ts';
import { fail, type Outcome, ok, skipped, unknown, warn } from './outcome.ts';

/** Explains whether the port itself can become a NIC: status, age, address, family, limit. */
export function filter(subject: Subject): Outcome {
  const passed = ok(whyTexts.portFits);
  return judge(subject, (reason) => rowOf(reason)?.step === 'Filter', passed);
}

/** Explains the port's node and NIC name. */
export function assignment(subject: Subject): Outcome {
  const name = nicNameOf(subject);
  const node = nodeNameOf(subject);
  const passed = name && node ? ok(filled(whyTexts.nodeAndNic, { node, name })) : undecided;
  return judge(subject, isAssignment, passed);
}

/** True for claim and name reasons, and for unknown reasons from a newer operator. */
function isAssignment(reason: string): boolean {
  return (rowOf(reason)?.step ?? 'Assignment') === 'Assignment';
}

const undecided = unknown(whyTexts.undecided);

/** Returns the last sync's verdict if the reason belongs to this step. */
function judge(subject: Subject, belongs: (reason: string) => boolean, passed: Outcome): Outcome {
  const { facts, port, nic, object } = subject;
  if (facts.port.state === 'unread') return skipped(facts.port);
  if (!port?.verdict) return nic ? passed : undecided;
  const { reason, config, nic: name } = port.verdict;
  if (reason === undefined || !belongs(reason)) return passed;
  const evidence = evidenceOf(reason, port, subject);
  const next = nextFor(reason, { config, spec: object?.spec, port });
  return name === undefined ? fail(reason, evidence, next) : warn(reason, evidence, next);
}

function evidenceOf(reason: string, port: PortView, { node, object }: Subject): Wording {
  const text = ofMessage(reason, port.verdict?.message);
  if (reason === 'PortTooOld') return ageEvidence(port, object) ?? text;
  if (reason !== 'InterfaceLimitExceeded' || !node) return text;
  const nics = node.nics.map(({ name, addresses }) => `${name} ${addresses[0] ?? ''}`.trim());
  const list = nics.join(', ');
  return filled(whyTexts.nodeHas, { text, nodeName: node.nodeName, list });
}

function ageEvidence(
  { createdAt }: PortView,
  object: OpenstackConfig | undefined,
): Wording | undefined {
  const made = object?.metadata.creationTimestamp;
  if (!createdAt || !object || !made) return undefined;
  const { portBaseline = 'CreatedAfterConfig' } = object.spec.settings ?? {};
  return filled(whyTexts.portAge, { createdAt, made, portBaseline });
}
