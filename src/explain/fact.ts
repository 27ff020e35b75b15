import type { Wording } from '../api/texts/text.ts';

/** Where a fact was read. */
export type FactSource =
  | 'Contrabass'
  | 'Keystone'
  | 'Neutron'
  | 'Nova'
  | 'operator'
  | 'Viola'
  | 'management cluster'
  | 'business cluster';

/** A value that was read, or the reason why it was not: an unread value never counts as good. */
export type Fact<T> =
  | {
      readonly state: 'read';
      readonly value: T;
      readonly source: FactSource;
      /** RFC 3339; undefined: the source does not state it. */
      readonly at: string | undefined;
    }
  | ({ readonly state: 'unread' } & Missing);

/** Name of an unread fact, and why it is missing. */
export interface Missing {
  /** Such as "Nodes of biz-2". */
  readonly what: Wording;
  /** Such as "no access". */
  readonly why: Wording;
  /** How the user supplies the fact, such as "add --business-context biz-2=CONTEXT"; empty: unknown. */
  readonly next: Wording;
  /** Source without an answer; absent: the fact is optional, such as the Nodes of a business cluster without a context. */
  readonly required?: RequiredSource;
}

/** A source without which a command's answer is incomplete. */
export interface RequiredSource {
  readonly source: FactSource;
  /** URL, kubeconfig path, context or business cluster of the source. */
  readonly place: string;
}

/** Returns "Nodes of biz-2: no access". */
export function missingText({ what, why }: Pick<Missing, 'what' | 'why'>): Wording {
  return { en: `${what.en}: ${why.en}`, ko: `${what.ko}: ${why.ko}` };
}

/** Converts a value that was read; an unread fact stays unread. */
export function mapFact<T, U>(fact: Fact<T>, convert: (value: T) => U): Fact<U> {
  return fact.state === 'read' ? { ...fact, value: convert(fact.value) } : fact;
}
