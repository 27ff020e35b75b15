import type { NodeErrorCode, PostAnswer } from '../api/node-configs-http.ts';

/** Failures that the same request may not have when it is repeated. */
const transient: ReadonlySet<NodeErrorCode> = new Set([
  'Deleting',
  'ClusterUnreachable',
  'Internal',
]);
/** Failures that ask the caller to read again and plan again. */
const moved: ReadonlySet<NodeErrorCode> = new Set(['StaleBase', 'FieldConflict', 'Fenced']);

/**
 * HTTP status of a POST. A caller that reads results gets 200 as soon as one node was accepted; for any other a 2xx means
 * that every node was: the deployed operator takes each 2xx for final and repeats the whole request after anything else.
 */
export function answerStatus({ results, errors }: PostAnswer, readsResults: boolean): number {
  if (errors.length === 0 || (readsResults && results.length > 0)) return 200;
  if (errors.some(({ code }) => transient.has(code))) return 503;
  return errors.some(({ code }) => moved.has(code)) ? 409 : 422;
}
