import type { Call, Caller } from './caller.ts';
import type { HttpAnswer } from './transport.ts';

/** A caller with scripted answers. */
export interface FakeCaller extends Caller {
  readonly sent: readonly Call[];
}

/** Creates a caller that records each call and answers by `respond`; runs the call's check, like the real caller. */
export function createFakeCaller(
  respond: (call: Call, index: number) => HttpAnswer | Promise<HttpAnswer>,
): FakeCaller {
  const sent: Call[] = [];
  return {
    sent,
    get calls() {
      return sent.length;
    },
    async call(call, signal) {
      signal.throwIfAborted();
      sent.push(call);
      const answer = await respond(call, sent.length - 1);
      call.check?.(answer);
      return answer;
    },
  };
}

/** Returns an answer with a JSON body. */
export function answerOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { status, headers, text: JSON.stringify(body) };
}
