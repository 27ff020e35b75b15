import type { NodeError, NodeErrorCode } from '../api/node-configs-http.ts';
import { isForbidden, isInvalid, KubeError } from '../kube/errors.ts';

/** Managers under which the deployed Viola (`kubectl apply`) wrote the same fields. */
const deployedManagers = ['kubectl-client-side-apply', 'kubectl'];

/** Whether an apply failed because another field manager owns a field with another value. */
export function isFieldConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.causes.length > 0;
}

/** Whether every conflicting field belongs to the deployed Viola; its fields are ours to take over. */
export function ownedByDeployedViola(error: unknown): boolean {
  return (
    isFieldConflict(error) &&
    error.causes.every(({ message }) =>
      deployedManagers.some((name) => message.includes(`"${name}"`)),
    )
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
  if (error instanceof KubeError && (error.status === 0 || error.status >= 429)) {
    return 'ClusterUnreachable';
  }
  return 'Internal';
}
