import type { Failure, Run, Verdict } from '../runner.ts';

/** How things stand with one object: what its status is about. */
export type Situation =
  /** No agent may be sent; the NICs stay as they are. */
  | ({ readonly kind: 'refused' } & Failure)
  /** An agent is to be sent and has to wait; `repeat` as below. */
  | ({ readonly kind: 'waiting'; readonly repeat: boolean } & Failure)
  /** `repeat`: what the status says of an earlier attempt still holds. */
  | { readonly kind: 'working'; readonly run: Run; readonly repeat: boolean }
  /** `at`: when its end was seen here. */
  | {
      readonly kind: 'ended';
      readonly job: string;
      readonly at: Date;
      readonly verdict: Verdict;
    }
  /** The status says how it ended; nothing else does any more. */
  | { readonly kind: 'recorded' };

/** Whether an earlier attempt has a result for the same machine, which stays in the status until the next one is in. */
export function isRepeat(situation: Situation): boolean {
  if (situation.kind === 'working' || situation.kind === 'waiting') return situation.repeat;
  return situation.kind === 'recorded';
}
