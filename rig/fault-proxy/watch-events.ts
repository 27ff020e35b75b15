import * as z from 'zod';
import type { Clock } from '../../src/time/clock.ts';
import type { RuleOf, Rules, Subject } from './rules.ts';

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
): AsyncGenerator<Buffer> {
  /** The event that waits for the next one to overtake it. */
  let held: Buffer[] = [];
  let version: string | undefined;
  for await (const line of linesOf(body)) {
    const event = eventIn(line);
    const rule = event && rules.take(['watch-event'], { ...subject, ...describe(event) });
    const action = rule?.action;
    if (action === 'swap' && held.length === 0) held = [line];
    else {
      if (action === 'delay') await clock.sleep(rule?.ms ?? 0);
      yield* delivered({ event, line, action, version });
      yield* held.splice(0);
    }
    if (action === 'gone') return;
    version = versionAfter(event, version);
  }
  yield* held;
}

/** Bookmarks are no events of an object. */
function versionAfter(event: WatchEvent | undefined, before: string | undefined) {
  return event && event.type !== 'BOOKMARK' ? event.object.metadata?.resourceVersion : before;
}

const watchEvent = z.object({
  type: z.string(),
  object: z.looseObject({
    metadata: z
      .looseObject({
        namespace: z.string().optional(),
        name: z.string().optional(),
        resourceVersion: z.string().optional(),
      })
      .optional(),
  }),
});

type WatchEvent = z.infer<typeof watchEvent>;

/** The event in a line; what is none is passed on as it is. */
function eventIn(line: Buffer): WatchEvent | undefined {
  try {
    return watchEvent.safeParse(JSON.parse(line.toString())).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

interface Delivery {
  /** Undefined when the line is none. */
  readonly event: WatchEvent | undefined;
  readonly line: Buffer;
  readonly action: RuleOf<'watch-event'>['action'] | undefined;
  /** Of the last event before this one. */
  readonly version: string | undefined;
}

function delivered({ event, line, action, version }: Delivery): readonly Buffer[] {
  if (action === 'drop') return [];
  if (action === 'twice') return [line, line];
  if (action === 'gone') return [lineOf(expired)];
  const moved = action === 'own-version' && event?.type === 'BOOKMARK';
  return moved ? bookmarks(event, version) : [line];
}

/** As the real server's, whose bookmark of a kind on which nothing happened does not move. */
function bookmarks(event: WatchEvent, version: string | undefined): readonly Buffer[] {
  if (version === undefined) return [];
  const metadata = { ...event.object.metadata, resourceVersion: version };
  return [lineOf({ ...event, object: { ...event.object, metadata } })];
}

function lineOf(event: object): Buffer {
  return Buffer.from(`${JSON.stringify(event)}\n`);
}

function describe({ type, object }: WatchEvent): Subject {
  const { namespace, name = '' } = object.metadata ?? {};
  return { type, object: namespace === undefined ? name : `${namespace}/${name}` };
}

/** Lines with their ends; the last one may have none. */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}
