import type { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/errors.ts';
import { type Action, keyOfAction } from '../kube/rights.ts';
import { mapBounded } from '../process/bounded.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';

/** Questions at once: none of them is in a hurry, and the part has work to do. */
const atOnce = 2;
const answerWithinMs = 5_000;

export interface RightsRequest {
  readonly client: Pick<KubeClient, 'mayI'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Answers {
  /** Whether an action is allowed, by its key; what the server did not say is not in it. */
  readonly allowed: ReadonlyMap<string, boolean>;
  /** Why the rest could not be asked; what is not known is not missing. */
  readonly silence?: Silence;
}

export interface Silence {
  /** `away`: no answer, or none for now; `refused`: this identity may not even ask. */
  readonly kind: 'away' | 'refused';
  readonly error: unknown;
}

/** Asks an API server for each action; the first question without an answer is the last. */
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
        silence ??= silenceOf(error);
      }
    },
    signal,
  );
  return { allowed, ...(silence && { silence }) };
}

function silenceOf(error: unknown): Silence {
  if (error instanceof DeadlineReached) return { kind: 'away', error };
  if (!(error instanceof KubeError)) throw error;
  const { status } = error;
  const away = status === 0 || status === 429 || status >= 500;
  return { kind: away ? 'away' : 'refused', error };
}
