import type { Clock } from '../../src/time/clock.ts';
import type { RuleOf, Rules, Subject } from './rules.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly metadata?: {
      readonly namespace?: string;
      readonly name?: string;
      readonly resourceVersion?: string;
    };
  };
}

const expired = {
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 410,
    reason: 'Expired',
    message: 'too old resource version',
  },
};

/** The lines of a watch as they reach the client; the rules say which of them do, when, and in which order. */
export async function* watchEvents(
  body: AsyncIterable<Buffer>,
  { rules, clock, subject }: { rules: Rules; clock: Clock; subject: Subject },
): AsyncGenerator<string> {
  /** Events that wait for the next one to overtake them. */
  const held: string[] = [];
  let version: string | undefined;
  for await (const line of linesOf(body)) {
    const event = JSON.parse(line) as WatchEvent;
    const rule = rules.take(['watch-event'], { ...subject, ...describe(event) });
    if (rule?.action === 'swap') held.push(line);
    else {
      if (rule?.action === 'delay') await clock.sleep(rule.ms);
      yield* delivered(event, { line, rule, version });
      yield* held.splice(0);
    }
    if (rule?.action === 'gone') return;
    if (event.type !== 'BOOKMARK') version = event.object.metadata?.resourceVersion;
  }
  yield* held;
}

interface Delivery {
  readonly line: string;
  readonly rule: RuleOf<'watch-event'> | undefined;
  /** Of the last event before this one. */
  readonly version: string | undefined;
}

function delivered(event: WatchEvent, { line, rule, version }: Delivery): readonly string[] {
  const action = rule?.action;
  if (action === 'drop') return [];
  if (action === 'twice') return [line, line];
  if (action === 'gone') return [`${JSON.stringify(expired)}\n`];
  const moved = action === 'own-version' && event.type === 'BOOKMARK';
  return moved ? bookmarks(event, version) : [line];
}

/** As the real server's, whose bookmark of a kind on which nothing happened does not move. */
function bookmarks(event: WatchEvent, version: string | undefined): readonly string[] {
  if (version === undefined) return [];
  const metadata = { ...event.object.metadata, resourceVersion: version };
  return [`${JSON.stringify({ ...event, object: { ...event.object, metadata } })}\n`];
}

function describe({ type, object }: WatchEvent): Subject {
  const { namespace, name = '' } = object.metadata ?? {};
  return { type, object: namespace === undefined ? name : `${namespace}/${name}` };
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield rest.subarray(0, end + 1).toString();
      rest = rest.subarray(end + 1);
    }
  }
}
