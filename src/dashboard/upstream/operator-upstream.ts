import { eventsPath, resetEvent } from '../../api/events-http.ts';
import { ApiError } from '../../session/access/api-error.ts';
import type { LiveSession } from '../../session/live/live-session.ts';
import { type Clock, passed } from '../../time/clock.ts';
import type { Upstream, UpstreamEvent } from '../events/upstream.ts';
import { type SentEvent, sentEvents } from './sent-events.ts';

/** Longest silence: the operator sends a heartbeat every 15 s. */
export const longestSilenceMs = 45_000;

/** The operator's stream of changed rows, at the leader that the live session finds. */
export class OperatorUpstream implements Upstream {
  readonly #live: Pick<LiveSession, 'read'>;
  readonly #clock: Clock;

  constructor(live: Pick<LiveSession, 'read'>, clock: Clock) {
    this.#live = live;
    this.#clock = clock;
  }

  /** Reports `polling` instead of a stream for an operator without the route, or without a free stream. */
  async subscribe(
    lastId: string | undefined,
    onEvent: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const end = new AbortController();
    const onAbort = () => end.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#follow(lastId, onEvent, end);
    } catch (error) {
      if (!hasNoStream(error)) throw error;
      onEvent({ kind: 'polling' });
    } finally {
      signal.removeEventListener('abort', onAbort);
      end.abort(new Error('the stream has ended'));
    }
  }

  async #follow(
    lastId: string | undefined,
    onEvent: (event: UpstreamEvent) => void,
    end: AbortController,
  ): Promise<void> {
    const api = await this.#live.read({ signal: end.signal }).operator();
    const chunks = await api.events(eventsPath, lastId, end.signal);
    const heard = { isSilent: false };
    void this.#endIfSilent(heard, end);
    for await (const sent of sentEvents(chunks)) {
      heard.isSilent = false;
      const event = upstreamEventOf(sent);
      if (event) onEvent(event);
    }
  }

  /** Ends a stream with an open connection and no event, such as behind a dead port-forward. */
  async #endIfSilent(heard: { isSilent: boolean }, end: AbortController): Promise<void> {
    do heard.isSilent = true;
    while ((await passed(this.#clock, longestSilenceMs, end.signal)) && !heard.isSilent);
    end.abort(new Error(`the operator sent no event for ${longestSilenceMs / 1_000} s`));
  }
}

/** True for an operator from an earlier release, and for an operator with too many readers. */
function hasNoStream(error: unknown): boolean {
  return error instanceof ApiError && (error.isMissingRoute || error.reason === 'TooManyStreams');
}

/** Returns undefined for an event without an id: no stream resumes after it. */
function upstreamEventOf({ name, id, data }: SentEvent): UpstreamEvent | undefined {
  if (id === undefined) return undefined;
  if (name === resetEvent) return { kind: 'reset', id };
  // A later operator may send further names.
  if (name !== undefined || data === undefined) return { kind: 'heartbeat', id };
  return { kind: 'change', id, data };
}
