import type { Cause } from '../objects/status-error.ts';
import { type FieldSet, intersection, pathsOf, pathText } from './field-set.ts';
import type { Manager, Owner } from './managers.ts';

/** A field that an apply would change although another manager owns it. */
export interface FieldConflict {
  /** The owner as the server's message names it, quotes included. */
  readonly owner: string;
  /** The field's path, `.spec.nics[id="a"].mtu`. */
  readonly field: string;
}

/** Which changed fields belong to others. */
export function fieldConflicts(
  others: readonly Owner[],
  changed: FieldSet,
): readonly FieldConflict[] {
  return others.flatMap((owner) =>
    pathsOf(intersection(owner.fields, changed)).map((path) => ({
      owner: ownerText(owner.manager),
      field: pathText(path),
    })),
  );
}

function ownerText({ name, operation, apiVersion, subresource }: Manager): string {
  const where = subresource ? ` with subresource "${subresource}"` : '';
  return `"${name}"${where}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

/** The sentence of the 409 answer; for several conflicts a list per owner. */
export function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.field}`;
  }
  const owners = [...new Set(conflicts.map((conflict) => conflict.owner))].toSorted();
  const lines = owners.flatMap((owner) => [
    `conflicts with ${owner}:`,
    ...conflicts.filter((one) => one.owner === owner).map((one) => `- ${one.field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

export function conflictCauses(conflicts: readonly FieldConflict[]): readonly Cause[] {
  return conflicts.map(({ owner, field }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${owner}`,
    field,
  }));
}
