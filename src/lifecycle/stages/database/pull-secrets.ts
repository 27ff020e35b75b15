import { managedObjects } from '../../../api/names.ts';
import { statefulSets } from '../../../kube/core-resources.ts';
import type { Observed } from '../../model/stage.ts';
import { readBase } from '../managed-controller/base.ts';

/**
 * Returns the chart's `imagePullSecrets` for a MariaDB Pod. Without a base the live values stay: a missing ConfigMap
 * must not restart Pods.
 */
export function pullSecretsOf({ base, objects }: Pick<Observed, 'base' | 'objects'>) {
  const read = readBase(base);
  const pod =
    'base' in read
      ? read.base.deployment.spec?.template?.spec
      : objects.find(statefulSets, managedObjects.database)?.spec?.template.spec;
  const names = (pod?.imagePullSecrets ?? []).flatMap((one) => one?.name ?? []);
  return names.length === 0 ? {} : { imagePullSecrets: names.map((name) => ({ name })) };
}
