import { namedSome } from '../../../api/named-some.ts';
import { namespaces } from '../../../api/names.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import { StepFailure } from '../../model/step-failure.ts';

const shownNodes = 5;

/** Returns why nodes stay in a business cluster behind a legacy Viola, with the removal commands. */
export function removalUnsupported(names: readonly string[], providerId: string): StepFailure {
  const who = names.length === 0 ? 'nodes' : namedSome(names, shownNodes);
  const objects = names.length === 0 ? 'NODE' : names.slice(0, shownNodes).join(' ');
  const message = `business cluster "${providerId}" still has ${who}, and a legacy Viola cannot remove nodes; there, run kubectl -n ${namespaces.system} delete multinicnodeconfig ${objects}`;
  return new StepFailure({ reason: 'RemovalUnsupported', message });
}

/** Returns whether the plan removes a node or its last NIC. */
export function needsRemoval({ action, interfaces }: NodePlan): boolean {
  return action === 'delete' || (action === 'post' && interfaces.length === 0);
}

/** Returns why a node's last NICs stay, and the next step. */
export function lastNicStays({ nodeName, removals }: NodePlan): string {
  const nics = removals.confirmed.map(({ name, portId }) =>
    portId === undefined ? name : `${name} (port ${portId})`,
  );
  const what = nics.length === 0 ? '' : ` (here ${nics.join(', ')})`;
  return `node ${nodeName}: a legacy Viola cannot remove the last NIC of a node${what}; to remove it, run kubectl -n ${namespaces.system} delete multinicnodeconfig ${nodeName} in the business cluster, then set the annotation multinic.io/allow-removals to a new value`;
}
