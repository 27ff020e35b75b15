import { aborted } from '../../time/aborted.ts';
import type { Upstream, UpstreamEvent } from '../events/upstream.ts';

/** A connection to the scripted upstream. */
interface Connection {
  readonly lastId: string | undefined;
  readonly send: (event: UpstreamEvent) => void;
  readonly fail: (error: Error) => void;
  readonly signal: AbortSignal;
}

/** An upstream whose events come from the test. */
export class ScriptedUpstream implements Upstream {
  readonly connections: Connection[] = [];

  get latest(): Connection {
    const connection = this.connections.at(-1);
    if (!connection) throw new Error('the feed never connected');
    return connection;
  }

  async subscribe(
    lastId: string | undefined,
    send: (event: UpstreamEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.connections.push({ lastId, send, fail: reject, signal });
    await Promise.race([promise, aborted(signal)]);
  }
}
