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

/** The expansion of a MultiNicBizConfig gives a node up as soon as another writer has an object for it. */
const yieldingManagers = [fieldManagers.bizConfig];

/** Whether an apply failed because another field manager owns a field with another value. */
export function isFieldConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.causes.length > 0;
}

/**
 * Whether a conflict is about fields that are ours to take over: those of the expansion of a MultiNicBizConfig, always, and those of
 * the deployed Viola. A person who runs `kubectl apply`
 * has the same manager name; so an object that we wrote before is taken over only when somebody says so: for this object
 * by its annotation, for all by `--take-over`.
 */
export function mayTakeOver(
  error: unknown,
  live: MultiNicNodeConfig | undefined,
  takeOver: boolean,
): boolean {
  if (!live || !isFieldConflict(error)) return false;
  if (isWith(error, yieldingManagers)) return true;
  if (!isWith(error, [...deployedManagers, ...yieldingManagers])) return false;
  if (takeOver || live.metadata.annotations?.[annotations.takeOver] !== undefined) return true;
  const { managedFields } = managed.parse(live).metadata;
  return !managedFields.some(({ manager }) => manager === fieldManagers.viola);
}

/** What to do about a conflict of fields. */
export function conflictAdvice(error: KubeError): string {
  if (isWith(error, deployedManagers)) {
    return `kubectl wrote there after us (the deployed Viola, or a person): annotate the object with ${annotations.takeOver}, or start Viola with --take-over true`;
  }
  return 'let that manager give the fields up (kubectl apply --server-side without them)';
}

/** Whether all conflicts are with these managers; the deployed Viola writes with kubectl. */
function isWith({ causes }: KubeError, managers: readonly string[]): boolean {
  return causes.every(({ message }) => managers.some((name) => message.includes(`"${name}"`)));
}
