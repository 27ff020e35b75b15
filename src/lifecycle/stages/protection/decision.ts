import { labels } from '../../../api/names.ts';
import { isSameJson } from '../../../api/same-json.ts';
import type { ProtectionWanted } from '../../model/accepted.ts';
import { isBreakGlassActive } from '../../model/break-glass.ts';
import type { AdmissionRequest, GuardedObject } from './admission-review.ts';
import { contentFields, exemptGroups, exemptUsers, guardedLabels, scaledNames } from './exempt.ts';
import { refusalMessage } from './refusal-message.ts';

/** Current protection settings in lifecycle's namespace. */
export interface ProtectionRules {
  readonly namespace: string;
  /** User name of lifecycle's ServiceAccount. */
  readonly user: string;
  /** MultiNicOperator name; undefined: none, and nothing is protected. */
  readonly operator: string | undefined;
  /** Undefined: unusable or not read yet; everything stays protected. */
  readonly wanted: ProtectionWanted | undefined;
}

/**
 * Returns why a change is refused; undefined: allowed. Repeats the webhook configuration's rules: an API server without
 * matchConditions calls for every change of a labelled object.
 */
export function refusalOf(
  request: AdmissionRequest,
  rules: ProtectionRules,
  now: Date,
): string | undefined {
  const { operator } = rules;
  if (operator === undefined || !isProtecting(rules.wanted, now)) return undefined;
  if (request.namespace !== rules.namespace || isExempt(request, rules.user)) return undefined;
  const operation = operationOf(request);
  if (operation === undefined || rules.wanted?.allowed.has(operation)) return undefined;
  const owner = labelOf(request.oldObject, labels.managedByOperator) || operator;
  return refusalMessage(owner, request);
}

function isProtecting(wanted: ProtectionWanted | undefined, now: Date): boolean {
  if (!wanted) return true;
  return wanted.preventsMutations && !isBreakGlassActive(wanted, now);
}

function isExempt({ userInfo }: AdmissionRequest, own: string): boolean {
  const { username, groups } = userInfo;
  return (
    username === own ||
    exemptUsers.includes(username) ||
    (groups ?? []).some((group) => exemptGroups.includes(group))
  );
}

type Operation = 'update' | 'delete' | 'scale';

/** Returns the protected operation requested on a managed object; undefined: no protected operation. */
function operationOf(request: AdmissionRequest): Operation | undefined {
  const { operation, subResource, name, object, oldObject } = request;
  if (subResource === 'scale') return scaledNames.includes(name) ? 'scale' : undefined;
  if (subResource !== '' || !isProtected(object, oldObject)) return undefined;
  if (operation === 'DELETE') return 'delete';
  return isUpdateOfContent(request) ? 'update' : undefined;
}

/** CSI drivers and the resizer write claims. */
function isUpdateOfContent({ operation, resource, object, oldObject }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || resource.resource === 'persistentvolumeclaims') return false;
  return changesContent(object ?? {}, oldObject ?? {});
}

function isProtected(...objects: readonly (GuardedObject | null | undefined)[]): boolean {
  return objects.some((object) => labelOf(object, labels.protected) === 'true');
}

function changesContent(object: GuardedObject, old: GuardedObject): boolean {
  return (
    contentFields.some((field) => !isSameJson(object[field], old[field])) ||
    !isSameJson(object.metadata?.ownerReferences, old.metadata?.ownerReferences) ||
    guardedLabels.some((label) => labelOf(object, label) !== labelOf(old, label))
  );
}

function labelOf(object: GuardedObject | null | undefined, label: string): string {
  return object?.metadata?.labels?.[label] ?? '';
}
