import type { ViolaCode } from '../message-codes.ts';
import type { NicCode } from '../nic-codes.ts';
import type { HoldCode } from '../removals.ts';
import type { Wording } from '../texts/text.ts';
import type { NextStepRow } from './next-step-row.ts';

/** Explaining step in `multinic why` for a port without NIC. */
type VerdictStep = 'Neutron' | 'Selection' | 'Filter' | 'Assignment';

/** Alert by reason, for objects without Ready True. */
export type ReasonAlert =
  | 'MultiNicAgentFailing'
  | 'MultiNicBizConfigNotReady'
  | 'MultiNicCloudFailing'
  | 'MultiNicDeletionStuck'
  | 'MultiNicDeletionsHeld'
  | 'MultiNicDeliveryFailing'
  | 'MultiNicNicMissing'
  | 'MultiNicNodeConfigNotReady'
  | 'MultiNicOpenstackConfigNotReady'
  | 'MultiNicOtherController'
  | 'MultiNicRemovalHeld'
  | 'MultiNicRemovalUnconfirmed';

/** Missing part in an OpenstackConfig's sync while Ready has the reason. */
export type Blocked = 'sync' | 'servers' | 'delivery';

/** Columns beside the texts. */
export interface ReasonColumns {
  /** Set for a port's reasons. */
  readonly step?: VerdictStep;
  /** At most a single alert per metric. Empty: Ready never has the reason, or needs no action. */
  readonly alerts?: readonly ReasonAlert[];
  /** `sync`: no decision about any port. `servers`: no decision about ports on some servers or subnets. */
  readonly blocks?: readonly Blocked[];
  /** The first row with all values known applies; absent: `action` without a command. */
  readonly nextStep?: readonly NextStepRow[];
  /** Cases, in a NIC's result or at the beginning of a message. */
  readonly codes?: readonly (NicCode | HoldCode | ViolaCode)[];
}

/** Reason with its meaning, the user's action, and whether the product retries. */
export interface ReasonRow extends ReasonColumns {
  /**
   * Subject: NIC, MultiNicNodeConfig, OpenstackConfig, MultiNicBizConfig, MultiNicOperator, or a MultiNIC process.
   */
  readonly scope:
    | 'nic'
    | 'node'
    | 'openstackconfig'
    | 'multinicbizconfig'
    | 'multinicoperator'
    | 'part';
  readonly meaning: Wording;
  readonly action: Wording;
  readonly retryable: boolean;
}

/** Row for a status reason; the alerts are explicit. */
export type StatusReasonRow = ReasonRow & Required<Pick<ReasonColumns, 'alerts'>>;

/** Action for a reason without user action. */
export const nothing: Wording = { en: 'Nothing.', ko: '조치가 필요 없습니다.' };

type NoColumns = Readonly<Partial<Record<keyof ReasonColumns, never>>>;

type Texts = readonly [en: string, ko: string];

/** Builds one row; texts are pairs of English and Korean. */
export function row<const Columns extends ReasonColumns = NoColumns>(
  scope: ReasonRow['scope'],
  retryable: boolean,
  [en, ko]: Texts,
  action: Texts | Wording,
  columns?: Columns,
): Omit<ReasonRow, keyof ReasonColumns> & Columns {
  return {
    scope,
    retryable,
    meaning: { en, ko },
    action: 'en' in action ? action : { en: action[0], ko: action[1] },
    ...(columns as Columns),
  };
}
