import { rfc3339 } from '../../../api/condition.ts';
import type { Effect } from '../../../api/effects.ts';
import { fieldManagers } from '../../../api/names.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { isAbsent, isConflict } from '../../../kube/errors.ts';
import type { ObjectRef } from '../../../kube/object.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import { type Clock, passed } from '../../../time/clock.ts';
import { withDeadline } from '../../../time/deadline.ts';
import { multiNicOperators, statusOf } from '../../model/multinicoperator.ts';

export interface RefusalsDeps {
  readonly client: Pick<KubeClient, 'find' | 'patchStatus'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/** Milliseconds between two writes by one replica. */
const pauseMs = 1_000;
/** Timeout for one write, and for the last write at process end. */
const endMs = 5_000;
/** Maximum tries per write when other replicas cause conflicts. */
const mostTries = 10;

/** Adds refused changes to status.protectionStatus, concurrently with other replicas. */
export interface Refusals {
  count(operator: ObjectRef): void;
  /** Writes until the signal aborts, then writes the rest. */
  run(signal: AbortSignal): Promise<void>;
}

interface Pending {
  readonly ref: ObjectRef;
  count: number;
  last: Date;
}

export function createRefusals({ client, perform, clock, log }: RefusalsDeps): Refusals {
  let pending: Pending | undefined;
  let wake = Promise.withResolvers<void>();

  function count(ref: ObjectRef): void {
    pending = { ref, count: (pending?.count ?? 0) + 1, last: clock.now() };
    wake.resolve();
  }

  /** Failed writes stay pending. A running write completes at process end: an aborted write would count twice. */
  async function flush(): Promise<void> {
    const taken = pending;
    if (!taken) return;
    pending = undefined;
    try {
      await withDeadline({ clock, ms: endMs }, async (signal) => add(taken, signal));
    } catch (error) {
      const since = pending as Pending | undefined;
      pending = { ...taken, ...since, count: taken.count + (since?.count ?? 0) };
      log.warn({ err: error }, 'number of refused changes not written, retrying');
    }
  }

  async function add({ ref, count: more, last }: Pending, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      const found = await client.find(multiNicOperators, ref, { signal });
      if (!found) return; // The object is gone, including its count.
      const { protectionStatus = {} } = statusOf(found);
      const { preventedMutations: before = 0, lastProtectionEvent } = protectionStatus;
      const patch = {
        metadata: { resourceVersion: found.metadata.resourceVersion },
        status: {
          protectionStatus: {
            preventedMutations: before + more,
            lastProtectionEvent: later(lastProtectionEvent, rfc3339(last)),
          },
        },
      };
      const options = { fieldManager: fieldManagers.lifecycle, signal };
      try {
        await perform('lifecycle.refusals.write', () =>
          client.patchStatus(multiNicOperators, ref, patch, options),
        );
        return;
      } catch (error) {
        if (isAbsent(error)) return;
        if (!isConflict(error) || tries === mostTries) throw error;
      }
    }
  }

  async function woken(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => aborted.resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    await Promise.race([wake.promise, aborted.promise]);
    signal.removeEventListener('abort', onAbort);
  }

  return {
    count,
    async run(signal) {
      while (!signal.aborted) {
        if (!pending) await woken(signal);
        wake = Promise.withResolvers();
        if (!signal.aborted) await flush();
        await passed(clock, pauseMs, signal);
      }
      await flush();
      if (pending) log.warn({ refused: pending.count }, 'number of refused changes lost');
    },
  };
}

function later(before: string | undefined, now: string): string {
  return before !== undefined && Date.parse(before) > Date.parse(now) ? before : now;
}
