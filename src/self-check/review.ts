import type { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/errors.ts';
import { type Action, keyOfAction } from '../kube/rights.ts';
import { mapBounded } from '../process/bounded.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';

/** Concurrent requests: the review is not urgent, and the part has work to do. */
const atOnce = 2;
const answerWithinMs = 5_000;

export interface RightsRequest {
  readonly client: Pick<KubeClient, 'mayI'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Answers {
  /** Allowed or not, by action key; undecided and unanswered actions have no entry. */
  readonly allowed: ReadonlyMap<string, boolean>;
  /** Reason for skipped actions; an unknown right does not count as missing. */
  readonly silence?: Silence;
}

export interface Silence {
  /** `away`: no answer, or a temporary failure; `refused`: this identity must not send reviews. */
  readonly kind: 'away' | 'refused';
  readonly error: unknown;
}

/** Asks the API server for each action; stops at the first failed request. */
export async function reviewAll(
  actions: readonly Action[],
  { client, clock, signal }: RightsRequest,
): Promise<Answers> {
  const allowed = new Map<string, boolean>();
  let silence: Silence | undefined;
  await mapBounded(
    actions,
    atOnce,
    async (action, stop) => {
      if (silence) return;
      try {
        const limit = { clock, ms: answerWithinMs, signal: stop };
        const answer = await withDeadline(limit, (limited) =>
          client.mayI(action, { signal: limited }),
        );
        if (answer !== 'undecided') allowed.set(keyOfAction(action), answer === 'yes');
      } catch (error) {
        stop.throwIfAborted();
        silence ??= failureOf(error);
      }
    },
    signal,
  );
  return { allowed, ...(silence && { silence }) };
}

function failureOf(error: unknown): Silence {
  if (error instanceof DeadlineReached) return { kind: 'away', error };
  if (!(error instanceof KubeError)) throw error;
  const { status } = error;
  const away = status === 0 || status === 429 || status >= 500;
  return { kind: away ? 'away' : 'refused', error };
}
