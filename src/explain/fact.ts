/** Where a fact was read. */
export type FactSource =
  | 'Neutron'
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
  | {
      readonly state: 'unread';
      /** What is missing, such as "Nodes of biz-2: no access". */
      readonly missing: string;
      /** How the user supplies it, such as "add --business-context biz-2=CONTEXT". */
      readonly next: string;
    };

/** Converts a value that was read; an unread fact stays unread. */
export function mapFact<T, U>(fact: Fact<T>, convert: (value: T) => U): Fact<U> {
  return fact.state === 'read' ? { ...fact, value: convert(fact.value) } : fact;
}
