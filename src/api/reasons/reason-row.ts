/** Text in English and Korean. */
export interface Wording {
  readonly en: string;
  readonly ko: string;
}

/** Reason with its meaning, the user's action, and whether the product retries. */
export interface ReasonRow {
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

/** Action for a reason without user action. */
export const nothing: Wording = { en: 'Nothing.', ko: '조치가 필요 없습니다.' };

/** Builds one row; texts are pairs of English and Korean. */
export function row(
  scope: ReasonRow['scope'],
  retryable: boolean,
  meaning: readonly [en: string, ko: string],
  action: readonly [en: string, ko: string] | Wording,
): ReasonRow {
  return {
    scope,
    retryable,
    meaning: { en: meaning[0], ko: meaning[1] },
    action: 'en' in action ? action : { en: action[0], ko: action[1] },
  };
}
