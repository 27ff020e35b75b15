import { fieldManagers, labels } from '../../../api/names.ts';
import { triggerConfigMap } from '../../../api/trigger-config.ts';
import { type ConfigMap, configMaps } from '../../../kube/core-resources.ts';
import { desired, managedLabels, ownedBy } from '../../model/desired.ts';
import { type Observed, type StagePlan, unchanged } from '../../model/stage.ts';

const { name, key } = triggerConfigMap;
const appLabels = { 'app.kubernetes.io/name': 'multinic-operator' };

/** Plans ConfigMap multinic-operator-triggers, which the operator reads; none without spec.reconcileTrigger. */
export function triggers(observed: Observed): StagePlan<undefined> {
  const { accepted, namespace, objects, operator } = observed;
  const { value: text, problems } = accepted.triggers;
  if (problems) return unchanged(problems, undefined);
  const live = objects.find(configMaps, name);
  const isForeign = live !== undefined && !isOurs(live, operator.metadata.name);
  const nothing = unchanged([], undefined);
  if (text === undefined) {
    if (!live || isForeign) return nothing;
    return { ...nothing, remove: [{ resource: configMaps, ref: { namespace, name } }] };
  }
  if (isForeign) return unchanged([foreign(operator.metadata.name)], undefined);
  const wanted = desired(configMaps, {
    metadata: {
      name,
      namespace,
      labels: { ...appLabels, ...managedLabels(operator) },
      ownerReferences: [ownedBy(operator)],
    },
    data: { [key]: text },
  });
  return { ...nothing, apply: [wanted] };
}

/** After a user removed the label, managedFields still names lifecycle. */
function isOurs({ metadata }: ConfigMap, operator: string): boolean {
  if (metadata.labels?.[labels.managedByOperator] === operator) return true;
  const managers = (metadata.managedFields ?? []) as readonly { readonly manager?: string }[];
  return managers.some(({ manager }) => manager === fieldManagers.lifecycle);
}

function foreign(operator: string) {
  const field = 'spec.reconcileTrigger';
  return {
    field,
    message: `${field}: ConfigMap ${name} was created by a user or a chart and stays unchanged; delete it, or hand it over by its label ${labels.managedByOperator}=${operator}, or remove ${field}`,
  };
}
