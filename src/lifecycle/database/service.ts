import { annotations, managedObjects } from '../../api/names.ts';
import type { Service } from '../../kube/core-resources.ts';
import type { Draft } from '../../kube/object.ts';
import type { DatabaseWanted } from '../accept/accepted.ts';
import { managedLabels, ownedBy } from '../objects/desired.ts';
import type { Observed } from '../stage.ts';
import { selector } from './stateful-set.ts';

export function serviceOf(
  { operator, namespace }: Observed,
  { service: { type, port, nodePort } }: DatabaseWanted,
): Draft<Service> {
  return {
    metadata: {
      name: managedObjects.database,
      namespace,
      labels: { ...managedLabels(operator), ...selector, component: 'database' },
      ownerReferences: [ownedBy(operator)],
    },
    spec: {
      type,
      selector,
      ports: [
        {
          name: 'mysql',
          protocol: 'TCP',
          port,
          targetPort: 3306,
          ...(nodePort === undefined ? {} : { nodePort }),
        },
      ],
    },
  };
}

/**
 * Whether the Service must be created again: ports of the legacy operator stay in a list that another manager applies to, and
 * two ports of one name are refused.
 */
export function hasOtherPorts(live: Service, { service: { port } }: DatabaseWanted): boolean {
  const isApplied = live.metadata.annotations?.[annotations.applied] !== undefined;
  return !isApplied && (live.spec?.ports ?? []).some((one) => one.port !== port);
}
