import * as z from 'zod';
import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../api/names.ts';
import { KubeError } from '../kube/errors.ts';

/** Managers under which the deployed Viola (`kubectl apply`) wrote the fields that are ours now. */
const deployedManagers = ['kubectl-client-side-apply', 'kubectl'];

const managed = z.object({
  metadata: z.object({
    managedFields: z.array(z.object({ manager: z.string().catch('') })).catch([]),
  }),
});

/** Whether an apply failed because another field manager owns a field with another value. */
export function isFieldConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.causes.length > 0;
}

/**
 * Whether a conflict is about fields of the deployed Viola, which are ours to take over. A person who runs `kubectl apply`
 * has the same manager name; so an object that we wrote before is taken over only when somebody says so: for this object
 * by its annotation, for all by `--take-over`.
 */
export function mayTakeOver(
  error: unknown,
  live: MultiNicNodeConfig | undefined,
  takeOver: boolean,
): boolean {
  if (!live || !isFieldConflict(error) || !isWithKubectl(error)) return false;
  if (takeOver || live.metadata.annotations?.[annotations.takeOver] !== undefined) return true;
  const { managedFields } = managed.parse(live).metadata;
  return !managedFields.some(({ manager }) => manager === fieldManagers.viola);
}

/** What to do about a conflict of fields. */
export function conflictAdvice(error: KubeError): string {
  if (isWithKubectl(error)) {
    return `kubectl wrote there after us (the deployed Viola, or a person): annotate the object with ${annotations.takeOver}, or start Viola with --take-over true`;
  }
  return 'let that manager give the fields up (kubectl apply --server-side without them)';
}

/** Whether all conflicts are with kubectl, which is what the deployed Viola writes with. */
function isWithKubectl({ causes }: KubeError): boolean {
  return causes.every(({ message }) =>
    deployedManagers.some((name) => message.includes(`"${name}"`)),
  );
}
