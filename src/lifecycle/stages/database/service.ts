import { annotations, managedObjects } from '../../../api/names.ts';
import type { Service } from '../../../kube/core-resources.ts';
import type { Draft } from '../../../kube/object.ts';
import type { DatabaseWanted } from '../../model/accepted.ts';
import { managedLabels, ownedBy } from '../../model/desired.ts';
import type { Observed } from '../../model/stage.ts';
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
 * True if the Service must be recreated: the legacy operator's ports stay in a list applied by another manager, and
 * duplicate port names are refused.
 */
export function hasOtherPorts(live: Service, { service: { port } }: DatabaseWanted): boolean {
  const isApplied = live.metadata.annotations?.[annotations.applied] !== undefined;
  return !isApplied && (live.spec?.ports ?? []).some((one) => one.port !== port);
}
