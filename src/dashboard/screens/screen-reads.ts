import { examinePauseMs } from '../../api/dashboard/screens.ts';
import type { NodeView } from '../../api/read-http.ts';
import { missingOf, type UnreadSource, unreadSources } from '../../explain/conclusion.ts';
import type { Fact } from '../../explain/fact.ts';
import type { Session } from '../../session/access/session.ts';
import { type Examination, readExamination } from '../../session/examination.ts';
import { readNodes } from '../../session/facts/operator-facts.ts';
import { unreadBehind } from '../../session/facts/unread-sources.ts';
import { sourcesInContext } from '../../session/in-context.ts';
import type { LiveSession } from '../../session/live/live-session.ts';
import type { Clock } from '../../time/clock.ts';
import { SharedRead } from './shared-read.ts';

/** All nodes, with the silent sources that may hide nodes. */
export interface NodeList {
  readonly nodes: Fact<readonly NodeView[]>;
  readonly unread: readonly UnreadSource[];
  /** Start of the read (RFC 3339). */
  readonly at: string;
}

/** Shortest time between two reads of all nodes (ms): filters and pages of a screen use one read. */
const nodesPauseMs = 3_000;

/** Reads with a user's rights. The user's tabs share examinations and lists. */
export class ScreenReads {
  readonly live: LiveSession;
  readonly examination: SharedRead<Examination>;
  readonly nodes: SharedRead<NodeList>;

  constructor(live: LiveSession, clock: Clock) {
    this.live = live;
    this.examination = new SharedRead({
      clock,
      pauseMs: examinePauseMs,
      read: (signal) => readExamination(live.read({ signal })),
    });
    this.nodes = new SharedRead({
      clock,
      pauseMs: nodesPauseMs,
      read: (signal) => readNodeList(live.read({ signal })),
    });
  }

  /** Returns a session for a request. */
  session(signal: AbortSignal): Session {
    return this.live.read({ signal });
  }
}

async function readNodeList(session: Session): Promise<NodeList> {
  const at = session.now().toISOString();
  const [nodes, behind] = await Promise.all([readNodes(session), unreadBehind(session, {})]);
  const own = unreadSources(missingOf(nodes));
  return {
    nodes,
    unread: sourcesInContext(withoutTwice([...own, ...behind]), session.options),
    at,
  };
}

/** Drops a source with the same cause: several reads fail together. */
export function withoutTwice(unread: readonly UnreadSource[]): UnreadSource[] {
  return [...new Map(unread.map((each) => [causeOf(each), each])).values()];
}

function causeOf({ source, place, why }: UnreadSource): string {
  return JSON.stringify([source, place, why.en]);
}
