import type { NodeError, NodeErrorCode } from '../../api/node-configs-http.ts';
import { isConflict, isForbidden, isInvalid, KubeError } from '../../kube/errors.ts';
import { conflictAdvice, isFieldConflict } from './field-conflict.ts';

/** True if the object changed since the read: written, deleted, or recreated. */
export function isMoved(error: unknown): boolean {
  return (
    isConflict(error) ||
    (isInvalid(error) && error.causes.some(({ field }) => field === 'metadata.uid'))
  );
}

/** Returns the error for one node, with the field if the API server named a field. */
export function nodeErrorOf(nodeName: string, error: unknown): NodeError {
  const [cause] = error instanceof KubeError ? error.causes : [];
  const text = error instanceof Error ? error.message : String(error);
  const message = isFieldConflict(error) ? `${text}; ${conflictAdvice(error)}` : text;
  return { nodeName, code: codeOf(error), field: cause?.field ?? '', message };
}

function codeOf(error: unknown): NodeErrorCode {
  if (isFieldConflict(error)) return 'FieldConflict';
  if (isInvalid(error)) return 'Invalid';
  if (isForbidden(error)) return 'Forbidden';
  return isUnreachable(error) ? 'ClusterUnreachable' : 'Internal';
}

/** True for a missing answer, server-wide failures, and rejected credentials. */
function isUnreachable(error: unknown): boolean {
  return error instanceof KubeError && [0, 401, 429, 502, 503, 504].includes(error.status);
}
