import * as z from 'zod';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations, fieldManagers } from '../../api/names.ts';
import { KubeError } from '../../kube/errors.ts';

/** Field managers used by the legacy Viola (`kubectl apply`) for fields that this Viola now owns. */
const deployedManagers = ['kubectl-client-side-apply', 'kubectl'];

const managed = z.object({
  metadata: z.object({
    managedFields: z.array(z.object({ manager: z.string().catch('') })).catch([]),
  }),
});

/**
 * The MultiNicBizConfig expansion yields its nodes to any other writer; Viola's patches, such as the consent of a
 * deletion that failed, yield to its next POST.
 */
const yieldingManagers = [fieldManagers.bizConfig, fieldManagers.viola];

/** True if an apply failed because another field manager owns a field with another value. */
export function isFieldConflict(error: unknown): error is KubeError {
  return error instanceof KubeError && error.status === 409 && error.causes.length > 0;
}

/**
 * True if the conflicting fields may be taken over: always from the MultiNicBizConfig expansion and from Viola's patches,
 * and from the legacy Viola on objects that this Viola never wrote. A user running `kubectl apply` has the same manager
 * name. Other objects therefore need the take-over annotation or `--take-over`.
 */
export function mayTakeOver(error: unknown, isLegacyTakenOver: boolean): boolean {
  if (!isFieldConflict(error)) return false;
  if (isWith(error, yieldingManagers)) return true;
  return isLegacyTakenOver && isWith(error, [...deployedManagers, ...yieldingManagers]);
}

/** True if this Viola may take over the legacy Viola's fields in the object. */
export function takesOverLegacy(live: MultiNicNodeConfig, takeOver: boolean): boolean {
  if (takeOver || live.metadata.annotations?.[annotations.takeOver] !== undefined) return true;
  const { managedFields } = managed.parse(live).metadata;
  return !managedFields.some(({ manager }) => manager === fieldManagers.viola);
}

/** Returns advice for resolving a field conflict. */
export function conflictAdvice(error: KubeError): string {
  if (isWith(error, deployedManagers)) {
    return `kubectl (the legacy Viola or a user) wrote the field after Viola: set the annotation ${annotations.takeOver} on the object, or start Viola with --take-over true`;
  }
  return 'make that field manager release the fields (kubectl apply --server-side without them)';
}

/** True if all conflicts are with these managers; the legacy Viola writes with kubectl. */
function isWith({ causes }: KubeError, managers: readonly string[]): boolean {
  return causes.every(({ message }) => managers.some((name) => message.includes(`"${name}"`)));
}
