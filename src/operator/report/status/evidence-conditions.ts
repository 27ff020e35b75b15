import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  rfc3339,
  setCondition,
  shortMessage,
} from '../../../api/condition.ts';
import { namedSome } from '../../../api/named-some.ts';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import { delivered } from './conditions.ts';
import type { Attempt, EvidenceMemory, NodeEvidence } from './evidence.ts';
import { nicsReadyBy, notRead } from './nics-ready.ts';

interface At {
  readonly now: Date;
  readonly generation: number;
  /** True: mode Observe. */
  readonly observes: boolean;
}

const shownNodes = 3;

/**
 * Returns the status with Delivered, NICsReady and `summary.nics` by the newest evidence. No other function decides when
 * evidence is too old for a condition. `previous`: the conditions in the object.
 */
export function withEvidence(
  status: OpenstackConfigStatus,
  previous: readonly Condition[],
  evidence: EvidenceMemory,
  at: At,
): OpenstackConfigStatus {
  const { conditions = [] } = status;
  const attempt = evidence.attempt ?? attemptBefore(previous, evidence.last);
  const before = findCondition(previous, 'NICsReady');
  const nicsReady = nicsReadyBy(evidence, before, at);
  const set = [
    ...(attempt ? after(deliveredBy(attempt.delivered, evidence), attempt.generation) : []),
    ...after(nicsReady, at.generation),
  ];
  const present = new Set(conditions.map(({ type }) => type));
  const summary = summaryBy(status.summary, evidence);
  return {
    ...status,
    conditions: [
      ...conditions.map((one) => findCondition(set, one.type) ?? one),
      ...set.filter(({ type }) => !present.has(type)),
    ],
    ...(summary ? { summary } : {}),
  };

  /** Returns the condition with times relative to the object. */
  function after(update: ConditionUpdate, generation: number): readonly Condition[] {
    const last = findCondition(previous, update.type);
    return setCondition(last ? [last] : [], update, { now: at.now, generation });
  }
}

/** Returns Delivered after an earlier leader's last attempt; missing evidence had made a good result Unknown. */
function attemptBefore(
  previous: readonly Condition[],
  last: NodeEvidence | undefined,
): Attempt | undefined {
  const before = findCondition(previous, delivered.type);
  if (before === undefined) return undefined;
  const { type, status, reason = '', message = '', observedGeneration: generation = 0 } = before;
  const isGood = status === 'True' || (last !== undefined && reason === unreadReason);
  return { delivered: isGood ? delivered : { type, status, reason, message }, generation };
}

const unreadReason = 'NodesNotRead' satisfies OperatorReason;

function deliveredBy(attempted: ConditionUpdate, evidence: EvidenceMemory): ConditionUpdate {
  const { last, isOld, confirmedAt } = evidence;
  const { type, status } = attempted;
  if (status === 'Unknown' && confirmedAt) {
    const message = `${attempted.message}; last evidence at ${rfc3339(confirmedAt)}`;
    return { ...attempted, message: shortMessage(message) };
  }
  // A legacy Viola answers each POST, and is never read.
  if (status !== 'True' || isLegacy(last)) return attempted;
  if (isOld) return notRead(type, last);
  return (last && differenceIn(last)) ?? attempted;
}

function isLegacy(last: NodeEvidence | undefined): boolean {
  return last !== undefined && last.count.configured === undefined;
}

/** Returns Delivered for an undecided port or a changed object; undefined: the nodes are as planned. */
function differenceIn({ count, changed }: NodeEvidence): ConditionUpdate | undefined {
  const { type } = delivered;
  const [undecided] = count.undecided;
  if (undecided) {
    const message = `port ${undecided.portId} is not decided: ${undecided.message}`;
    return { type, status: 'Unknown', reason: undecided.reason, message: shortMessage(message) };
  }
  if (changed.length === 0) return undefined;
  const message = namedSome(changed, shownNodes, { separator: '; ', before: '; and ' });
  const reason = 'NodeConfigChanged' satisfies OperatorReason;
  return { type, status: 'False', reason, message: shortMessage(message) };
}

type Summary = OpenstackConfigStatus['summary'];

/** Returns the summary with the present count; a count without recent evidence is unknown. */
function summaryBy(summary: Summary, evidence: EvidenceMemory): Summary {
  const { last, isOld } = evidence;
  if (isOld && !isLegacy(last)) return unreadSummary(summary);
  if (!last || summary?.nics === undefined) return summary;
  const { configured = '?', planned } = last.count;
  return { ...summary, nics: `${configured}/${planned}` };
}

/** Returns the summary with an unknown count of configured NICs. */
export function unreadSummary(summary: Summary): Summary {
  const [, planned] = summary?.nics?.split('/') ?? [];
  return planned === undefined ? summary : { ...summary, nics: `?/${planned}` };
}
