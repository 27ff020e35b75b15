import { labels, managedObjects } from '../../api/names.ts';
import type { PersistentVolumeClaim, StatefulSet } from '../../kube/core-resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Problem } from '../accept/accepted.ts';

/** Whether lifecycle or the legacy operator made an object: both label it with the name of their MultiNicOperator. */
export function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.managedByOperator] !== undefined;
}

/** Whether the legacy operator made the StatefulSet: its claim templates cannot be changed. */
export function isLegacy(found: StatefulSet): boolean {
  return isManaged(found) && (found.spec?.volumeClaimTemplates?.length ?? 0) > 0;
}

/** Whether the claim came from the legacy StatefulSet, whose controller labels it with the selector and nothing else. */
export function isLegacyClaim({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.labels?.['app'] === managedObjects.database;
}

/** Problem of an object under a name of lifecycle that neither lifecycle nor the legacy operator made. */
export function foreign(kind: string, name: string): Problem {
  return {
    field: 'spec.database.enabled',
    message: `spec.database.enabled true: ${kind} ${name} exists and carries no label ${labels.managedByOperator}, so another program made it; delete or rename it, or set enabled to false`,
  };
}
