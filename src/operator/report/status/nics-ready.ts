import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../../api/condition.ts';
import { counted } from '../../../api/counted.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { LateNode, NicCount } from './configured-nics.ts';

const type = 'NICsReady';
/** Most nodes in one message. */
const shownNodes = 3;

interface At {
  readonly now: Date;
  readonly generation: number;
}

/**
 * Returns whether every planned NIC is configured on its node. `nics` undefined: the sync read no nodes; the
 * previous condition stays if the generation is unchanged.
 */
export function nicsReadyOf(
  nics: NicCount | undefined,
  previous: readonly Condition[],
  at: At,
): Condition {
  const before = findCondition(previous, type);
  const update = nics === undefined ? unreadAfter(before, at) : counts(nics);
  const [set] = setCondition(before ? [before] : [], update, at);
  if (!set) throw new Error('a condition that is set is there');
  return set;
}

function unreadAfter(before: Condition | undefined, { generation }: At): ConditionUpdate {
  if (before?.observedGeneration !== generation) return unread;
  const { status, reason = '', message = '' } = before;
  return { type, status, reason, message };
}

const unread: ConditionUpdate = {
  type,
  status: 'Unknown',
  reason: 'Error' satisfies OperatorReason,
  message: 'the nodes were not read; see the condition Ready',
};

function counts({ configured, planned, late }: NicCount): ConditionUpdate {
  if (planned === 0) {
    return answer('False', 'NoPorts', 'no port of a selected server becomes a NIC');
  }
  if (configured === undefined) {
    const message = `a legacy Viola reports no status of nodes, so the state of ${counted(planned, 'planned NIC')} is unknown; see the MultiNicNodeConfigs in the business cluster`;
    return answer('Unknown', 'StatusUnsupported', message);
  }
  if (late.length === 0) {
    const all = planned === 1 ? 'the planned NIC is' : `all ${planned} planned NICs are`;
    return answer('True', 'NICsConfigured', `${all} configured`);
  }
  const known = late.filter(({ why }) => why !== undefined);
  const count = `${configured} of ${counted(planned, 'planned NIC')} ${configured === 1 ? 'is' : 'are'} configured`;
  const nodes = known.length > 0 ? known : late;
  const shown = nodes.slice(0, shownNodes).map(textOf);
  const rest = late.length - shown.length;
  const message = [count, ...shown, ...(rest > 0 ? [`and ${counted(rest, 'more node')}`] : [])];
  return known.length > 0
    ? answer('False', 'NICsNotConfigured', message.join('; '))
    : answer('Unknown', 'NoNodeStatus', message.join('; '));
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
