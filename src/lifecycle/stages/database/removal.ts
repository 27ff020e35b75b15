import { managedObjects } from '../../../api/names.ts';
import { type Deployment, deployments } from '../../../kube/core-resources.ts';
import { recordIn } from '../../model/mariadb/operation-record.ts';
import type { Observed } from '../../model/stage.ts';
import { reportOf } from '../managed-controller/report.ts';

/**
 * Returns why MariaDB is not removed yet with `enabled: false`: the operator still uses MariaDB, or an operation runs.
 * Undefined: no reason.
 */
export function whyNotRemoved(observed: Observed): string | undefined {
  const { operation } = recordIn(observed);
  if (operation) return `MariaDB stays until the ${operation.kind} has ended`;
  const { value, problems } = observed.accepted.controller;
  if (problems) return 'MariaDB stays until the fields of the operator are valid';
  const live = observed.objects.find(deployments, managedObjects.controller);
  if (!live) return undefined;
  const { phase } = reportOf(observed, value.replicas);
  return usesDatabase(live) || phase !== 'Ready'
    ? 'MariaDB stays until the operator runs without it'
    : undefined;
}

function usesDatabase({ spec }: Deployment): boolean {
  const containers = spec?.template.spec?.containers ?? [];
  return containers.some(({ env = [] }) =>
    env.some(
      ({ name, value = '' }) =>
        name === 'DB_HOST' && value.startsWith(`${managedObjects.database}.`),
    ),
  );
}
