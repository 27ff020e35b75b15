import { type ConditionUpdate, findCondition, maxMessage } from '../../api/condition.ts';
import { counted } from '../../api/counted.ts';
import type { InterfaceStatus } from '../../api/multinicnodeconfig.ts';
import { annotations, interfaceName } from '../../api/names.ts';
import type { NodeConfig } from '../objects/stores.ts';
import { type NicFinding, nicTexts } from './nic-texts.ts';
import type { Judgement } from './ready.ts';

/** Findings in the status of an observed object. */
export interface Observation {
  readonly statuses: readonly InterfaceStatus[];
  /** True if a user requested healing, without permission in mode Observe. */
  readonly isHealAsked: boolean;
}

/** Returns an object's findings in mode Observe. */
export function observationOf(
  { metadata }: NodeConfig,
  statuses: readonly InterfaceStatus[],
): Observation {
  return { statuses, isHealAsked: metadata.annotations?.[annotations.heal] !== undefined };
}

/** Maximum length of a check's failure: most of the message is for the NICs. */
const maxFailure = 256;

/** Returns condition Ready in mode Observe. `drift`: condition Drifted, Unknown if the last check failed. */
export function observedReady(
  { statuses, isHealAsked }: Observation,
  drift: ConditionUpdate | undefined,
): Judgement {
  const failure = drift?.status === 'Unknown' ? `${drift.reason}: ${drift.message}` : undefined;
  const head = [
    `observe only: ${countIn(statuses)}`,
    ...(isHealAsked ? [`${annotations.heal} only checks the node`] : []),
    ...(failure === undefined ? [] : [`the last check failed: ${failure.slice(0, maxFailure)}`]),
  ].join('; ');
  const open = statuses.filter(({ status }) => status !== 'Configured').map(findingIn);
  const room = maxMessage - head.length - '; '.length;
  const message = open.length === 0 ? head : `${head}; ${nicTexts(open, room)}`;
  return { status: 'Unknown', reason: 'Observed', message };
}

function countIn(statuses: readonly InterfaceStatus[]): string {
  const wanted = statuses.filter(({ interfaceIndex }) => interfaceIndex !== undefined);
  if (wanted.length === 0) return 'the spec has no NICs';
  const configured = wanted.filter(({ status }) => status === 'Configured').length;
  const verb = configured === 1 || wanted.length === 1 ? 'is' : 'are';
  return `${configured} of ${counted(wanted.length, 'NIC')} ${verb} configured as requested`;
}

function findingIn(nic: InterfaceStatus): NicFinding {
  const { id, name, macAddress = '', reason = '', message = '' } = nic;
  const own = id === undefined ? name || macAddress : interfaceName(id);
  return { name: own, reason, message };
}

/** True if the status shows an observed node. */
export function showsObserved(status: NodeConfig['status']): boolean {
  return findCondition(status?.conditions, 'Ready')?.reason === 'Observed';
}
