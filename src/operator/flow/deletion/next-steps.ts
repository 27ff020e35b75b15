import { annotations, finalizers } from '../../../api/names.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';

/** First words in the next steps. */
export const stays = '; the NICs stay';

/** Returns the next steps of a blocked deletion. */
export function nextSteps(object: ConfigObject): string {
  const { namespace, name } = object.metadata;
  const target = `-n ${namespace}`;
  const consent = `${annotations.allowRemovals}="$(date -Is)"`;
  return [
    `the NICs stay while this OpenstackConfig has the finalizer ${finalizers.openstackConfig}`,
    `to remove them: kubectl ${target} annotate openstackconfig ${name} --overwrite ${consent}`,
    toKeep(object),
  ].join('; ');
}

/** Returns how a deleted object's NICs stay on the nodes. */
export function toKeep({ metadata: { namespace, name } }: ConfigObject): string {
  const retain = `'{"spec":{"settings":{"deletionPolicy":"Retain"}}}'`;
  return `to keep them and let the object go: kubectl -n ${namespace} patch openstackconfig ${name} --type merge -p ${retain}, then apply the object again to manage them`;
}
