import { labels, managedObjects } from '../../../api/names.ts';
import type { PersistentVolumeClaim, StatefulSet } from '../../../kube/core-resources.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Problem } from '../../model/accepted.ts';

/** True if lifecycle or the legacy operator created the object: both label it with their MultiNicOperator's name. */
export function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[labels.managedByOperator] !== undefined;
}

/** True if the legacy operator created the StatefulSet, whose claim templates are immutable. */
export function isLegacy(found: StatefulSet): boolean {
  return isManaged(found) && (found.spec?.volumeClaimTemplates?.length ?? 0) > 0;
}

/** True if the claim came from the legacy StatefulSet, whose controller sets only the selector label. */
export function isLegacyClaim({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.labels?.['app'] === managedObjects.database;
}

/** Returns a problem for a foreign object under one of lifecycle's names. */
export function foreign(kind: string, name: string): Problem {
  return {
    field: 'spec.database.enabled',
    message: `spec.database.enabled true: ${kind} ${name} exists without label ${labels.managedByOperator}, so another program created it; delete or rename it, or set spec.database.enabled to false`,
  };
}
