import type { NodeError, NodeErrorCode } from '../api/node-configs-http.ts';
import { isConflict, isForbidden, isInvalid, KubeError } from '../kube/errors.ts';

/** Whether an apply failed because another field manager owns a field with another value. */
export function isFieldConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.causes.length > 0;
}

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
  const message = error instanceof Error ? error.message : String(error);
  return { nodeName, code: codeOf(error), field: cause?.field ?? '', message };
}

function codeOf(error: unknown): NodeErrorCode {
  if (isFieldConflict(error)) return 'FieldConflict';
  if (isInvalid(error)) return 'Invalid';
  if (isForbidden(error)) return 'Forbidden';
  return isUnreachable(error) ? 'ClusterUnreachable' : 'Internal';
}

/** No answer, a server in trouble, or one that does not know our credentials: nothing can be written there at all. */
function isUnreachable(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  const { status } = error;
  return status === 0 || status === 401 || status >= 429;
}
