import type { Call, Caller } from './caller.ts';
import type { HttpAnswer } from './transport.ts';

/** A caller that a test answers for. */
export interface FakeCaller extends Caller {
  readonly sent: readonly Call[];
}

/** Gives `respond`'s answer to every call and notes it; like the real one it lets the call check the answer. */
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

/** An answer with a JSON body. */
export function answerOf(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return { status, headers, text: JSON.stringify(body) };
}
