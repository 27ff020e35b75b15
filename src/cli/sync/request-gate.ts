import { preventedBy } from '../../api/awaited.ts';
import { findCondition } from '../../api/condition.ts';
import { annotations } from '../../api/names.ts';
import { pauseOf } from '../../api/pause.ts';
import { rowOf } from '../../api/reasons.ts';
import type { ConfigObject } from '../../session/facts/kinds.ts';

/** Request in an annotation: kind, value or id, and the annotation's text. */
export interface AnnotatedRequest {
  readonly kind: 'sync' | 'check';
  readonly value: string;
  readonly text: string;
}

/** Returns the name of the annotation for a request. */
export function annotationOf({ kind }: Pick<AnnotatedRequest, 'kind'>): string {
  return kind === 'sync' ? annotations.reconcileAt : annotations.checkNodes;
}

/**
 * `failing`: an attempt fails, and the operator does not report for which request. `replaced`: another request has the
 * annotation. `paused`: a user paused the OpenstackConfig.
 */
type RequestState = 'open' | 'handled' | 'failing' | 'replaced' | 'paused';

/** Decides from an object and the read's monotonic time (ms). */
export type RequestGate = (config: ConfigObject, atMs: number) => RequestState;

/** Time with the same Ready False after which an unhandled request counts as failing (ms). */
const unchangedMs = 30_000;

/** Returns the gate for a request: the reads show whether the request has ended. */
export function requestGate(request: AnnotatedRequest): RequestGate {
  let latest = '';
  let sinceMs = 0;
  return (config, atMs) => {
    if (isHandled(config, request)) return 'handled';
    const prevented = preventedState(config, request);
    if (prevented !== undefined) return prevented;
    const { status, reason, message } = readyIn(config);
    const current = [status, reason, message].join(' ');
    if (current !== latest) [latest, sinceMs] = [current, atMs];
    const isCause =
      request.kind === 'check' ? mayPreventCheck(reason) : config.status?.lastAttempt === undefined;
    const isUnchanged = atMs - sinceMs >= unchangedMs;
    return isCause && isUnchanged && status === 'False' ? 'failing' : 'open';
  };
}

/** Returns why the operator will not handle the request; undefined: the operator can. */
function preventedState(
  config: ConfigObject,
  request: AnnotatedRequest,
): 'replaced' | 'paused' | undefined {
  const current = config.metadata.annotations?.[annotationOf(request)] ?? request.text;
  if (current !== request.text) return 'replaced';
  return pauseOf(config).isPaused ? 'paused' : undefined;
}

/** A newer operator's reason may prevent a check, too. */
function mayPreventCheck(reason: string): boolean {
  return rowOf(reason) === undefined || preventedBy.check.some((each) => each === reason);
}

function isHandled({ status = {} }: ConfigObject, { kind, value }: AnnotatedRequest): boolean {
  const { lastHandledReconcileAt, lastHandledCheckNodes, lastAttempt } = status;
  return kind === 'sync'
    ? lastAttempt?.reconcileAt === value || lastHandledReconcileAt === value
    : lastHandledCheckNodes === value;
}

/** Ready condition; status Unknown: no condition. */
export type Readiness = Readonly<Record<'status' | 'reason' | 'message', string>>;

export function readyIn({ status: all }: ConfigObject): Readiness {
  const {
    status = 'Unknown',
    reason = '',
    message = '',
  } = findCondition(all?.conditions, 'Ready') ?? {};
  return { status, reason, message };
}
