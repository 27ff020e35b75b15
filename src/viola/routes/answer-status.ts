import type { NodeErrorCode, PostAnswer } from '../../api/node-configs-http.ts';

/** Transient failures: a repeated request may succeed. */
const transient: ReadonlySet<NodeErrorCode> = new Set([
  'Deleting',
  'ClusterUnreachable',
  'Internal',
]);
/** Stale plans: the caller must read and plan again. */
const moved: ReadonlySet<NodeErrorCode> = new Set(['StaleBase', 'FieldConflict', 'Fenced']);

/**
 * Returns the HTTP status for a POST. Callers that read results get 200 when any node was accepted. For other callers
 * a 2xx means that every node was accepted: the legacy operator treats each 2xx as final and repeats the whole
 * request otherwise.
 */
export function answerStatus({ results, errors }: PostAnswer, readsResults: boolean): number {
  if (errors.length === 0 || (readsResults && results.length > 0)) return 200;
  if (errors.some(({ code }) => transient.has(code))) return 503;
  return errors.some(({ code }) => moved.has(code)) ? 409 : 422;
}
