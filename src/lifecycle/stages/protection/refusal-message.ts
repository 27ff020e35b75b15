import { annotations, managedObjects } from '../../../api/names.ts';
import type { AdmissionRequest } from './admission-review.ts';

type Subject = Pick<AdmissionRequest, 'resource' | 'subResource' | 'name'>;

/** Returns the refusal text, in the legacy webhook's words, with the alternative. */
export function refusalMessage(operator: string, subject: Subject): string {
  return [
    'Direct modification of MultiNic protected resource is not allowed.',
    `This resource is managed by MultiNicOperator '${operator}'.`,
    'Please modify the MultiNicOperator configuration instead.',
    `Change ${fieldFor(subject)}.`,
    `In an emergency, set its annotation ${annotations.breakGlass} to an RFC 3339 time at most 4 hours ahead.`,
  ].join(' ');
}

const fieldByName: Readonly<Record<string, string>> = {
  [`secrets ${managedObjects.credentials}`]: `spec.database.credentials, or its annotation ${annotations.rotateCredentials}`,
  [`statefulsets ${managedObjects.database}`]: 'spec.database',
  [`services ${managedObjects.database}`]: 'spec.database.service',
  [`persistentvolumeclaims ${managedObjects.databaseClaim}`]: 'spec.database.storageSize',
  [`persistentvolumeclaims ${managedObjects.backup}`]: 'spec.database.backup',
  [`cronjobs ${managedObjects.backup}`]: 'spec.database.backup',
  'configmaps multinic-operator-triggers': 'spec.reconcileTrigger',
  [`deployments ${managedObjects.controller}`]: `spec.controller, or for a restart its annotation ${annotations.restartAt}`,
};

/** Returns the MultiNicOperator field behind an object. */
function fieldFor({ resource: { resource }, subResource, name }: Subject): string {
  if (subResource === 'scale') {
    return resource === 'deployments' ? 'spec.controller.replicas' : 'spec.database.enabled';
  }
  return fieldByName[`${resource} ${name}`] ?? 'spec.controller';
}
