/** A text in the two languages of our users. */
export interface Wording {
  readonly en: string;
  readonly ko: string;
}

/** What one reason means, what to do, and whether the product keeps trying by itself. */
export interface ReasonRow {
  /** Where it appears: one NIC, one MultiNicNodeConfig, an OpenstackConfig, a MultiNicBizConfig, a MultiNicOperator, or a process of ours. */
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

/** Action of a reason that needs none. */
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
