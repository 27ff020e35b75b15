import {
  type Condition,
  type ConditionUpdate,
  rfc3339,
  shortMessage,
} from '../../../api/condition.ts';
import { counted } from '../../../api/counted.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { LateNode, NicCount } from './configured-nics.ts';
import type { EvidenceMemory, NodeEvidence } from './evidence.ts';

export const nicsReadyType = 'NICsReady';
const type = nicsReadyType;
/** Most nodes in one message. */
const shownNodes = 3;

/** Returns whether every planned NIC is configured on its node; Unknown if the evidence is missing or too old. */
export function nicsReadyBy(
  evidence: EvidenceMemory,
  before: Condition | undefined,
  { generation, observes }: { readonly generation: number; readonly observes: boolean },
): ConditionUpdate {
  const { last, isOld } = evidence;
  if (last?.generation !== generation) return withoutEvidence(evidence, before, generation);
  const isLegacy = last.count.configured === undefined;
  if (!isLegacy && isOld) return notRead(type, last);
  return observes ? observedCounts(last.count) : counts(last.count);
}

/** Returns the condition without evidence of this generation. */
function withoutEvidence(
  { attempt, isOld }: EvidenceMemory,
  before: Condition | undefined,
  generation: number,
): ConditionUpdate {
  if (before?.observedGeneration !== generation) return unread;
  if (before.reason === waiting && attempt?.generation === generation) return unread;
  // WaitingForTrigger, or an earlier leader's status until the first read.
  if (before.status === 'Unknown' || !isOld) return updateOf(before);
  return notRead(type, undefined);
}

/** Returns the condition without times. */
export function updateOf({
  type: conditionType,
  status,
  reason = '',
  message = '',
}: Condition): ConditionUpdate {
  return { type: conditionType, status, reason, message };
}

/** Returns a condition without recent evidence; `last` undefined: none since the operator leads. */
export function notRead(conditionType: string, last: NodeEvidence | undefined): ConditionUpdate {
  const read = last
    ? `were last read at ${rfc3339(last.read.at)}`
    : 'have not been compared with a plan since this operator started';
  const message = `the MultiNicNodeConfigs of the business cluster ${read}; their present state is unknown`;
  const reason = 'NodesNotRead' satisfies OperatorReason;
  return { type: conditionType, status: 'Unknown', reason, message };
}

const waiting = 'WaitingForTrigger' satisfies OperatorReason;

/** For an attempt of this generation that ended before the nodes were read. */
const unread: ConditionUpdate = {
  type,
  status: 'Unknown',
  reason: 'Error' satisfies OperatorReason,
  message: 'the nodes were not read; see the condition Ready',
};

const noPorts = answer('False', 'NoPorts', 'no port of a selected server becomes a NIC');

/** Returns the condition in mode Observe, with the NICs that an apply would leave unchanged. Names nodes without a check. */
function observedCounts({
  configured = 0,
  planned,
  late,
  undecided: [open],
}: NicCount): ConditionUpdate {
  if (planned === 0) return noPorts;
  const count = `observe only: ${configured} of ${counted(planned, 'NIC')} ${configured === 1 ? 'is' : 'are'} as planned`;
  const nodes = late.filter(({ isObserved }) => !isObserved);
  return answer('Unknown', 'Observed', withDetails(count, nodes, { total: nodes.length, open }));
}

function counts(count: NicCount): ConditionUpdate {
  const { configured, planned, late, undecided } = count;
  if (planned === 0) return noPorts;
  if (configured === undefined) {
    const message = `a legacy Viola reports no status of nodes, so the state of ${counted(planned, 'planned NIC')} is unknown; see the MultiNicNodeConfigs in the business cluster`;
    return answer('Unknown', 'StatusUnsupported', message);
  }
  if (late.length + undecided.length > 0) return incomplete(count);
  const all = planned === 1 ? 'the planned NIC is' : `all ${planned} planned NICs are`;
  return answer('True', 'NICsConfigured', `${all} configured`);
}

/** Returns the condition for NICs that are not configured, or whose state is unknown. */
function incomplete({ configured, planned, late, undecided: [open] }: NicCount): ConditionUpdate {
  const known = late.filter(({ why }) => why !== undefined);
  const count = `${configured} of ${counted(planned, 'planned NIC')} ${configured === 1 ? 'is' : 'are'} configured`;
  const nodes = known.length > 0 ? known : late;
  const message = withDetails(count, nodes, { total: late.length, open });
  if (known.length > 0) return answer('False', 'NICsNotConfigured', message);
  return answer('Unknown', open?.reason ?? 'NoNodeStatus', message);
}

interface Details {
  /** Nodes to mention, including those without a text. */
  readonly total: number;
  readonly open: NicCount['undecided'][number] | undefined;
}

/** Returns the count with the first nodes, the number of further nodes, and an undecided port. */
function withDetails(count: string, nodes: readonly LateNode[], { total, open }: Details): string {
  const shown = nodes.slice(0, shownNodes).map(textOf);
  const rest = total - shown.length;
  const more = rest > 0 ? [`and ${counted(rest, 'more node')}`] : [];
  const notDecided = open ? [`port ${open.portId} is not decided: ${open.message}`] : [];
  return [count, ...shown, ...more, ...notDecided].join('; ');
}

function textOf({ nodeName, configured, planned, why }: LateNode): string {
  const cause = why ?? 'the business cluster reports no status for it';
  return `node ${nodeName}: ${configured} of ${planned}, ${cause}`;
}

function answer(
  status: Condition['status'],
  reason: OperatorReason,
  message: string,
): ConditionUpdate {
  return { type, status, reason, message: shortMessage(message) };
}
