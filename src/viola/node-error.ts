import type { NodeError, NodeErrorCode } from '../api/node-configs-http.ts';
import { isConflict, isForbidden, isInvalid, KubeError } from '../kube/errors.ts';
import { conflictAdvice, isFieldConflict } from './field-conflict.ts';

/** Whether the object is not the one any more that was read: written to, deleted, or made anew meanwhile. */
export function isMoved(error: unknown): boolean {
  return (
    isConflict(error) ||
    (isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid'))
  );
}

/** What went wrong with one node, with the field if the API server named one. */
export function nodeErrorOf(nodeName: string, error: unknown): NodeError {
  const [cause] = error instanceof KubeError ? error.causes : [];
  const said = error instanceof Error ? error.message : String(error);
  const message = isFieldConflict(error) ? `${said}; ${conflictAdvice(error)}` : said;
  return { nodeName, code: codeOf(error), field: cause?.field ?? '', message };
}

function codeOf(error: unknown): NodeErrorCode {
  if (isFieldConflict(error)) return 'FieldConflict';
  if (isInvalid(error)) return 'Invalid';
  if (isForbidden(error)) return 'Forbidden';
  return isUnreachable(error) ? 'ClusterUnreachable' : 'Internal';
}

/** No answer, one that only the whole server can mean, or one that does not know our credentials. */
function isUnreachable(error: unknown): boolean {
  return error instanceof KubeError && [0, 401, 429, 502, 503, 504].includes(error.status);
}
