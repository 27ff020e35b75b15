import type { MultiNicNodeConfig } from '../api/multinicnodeconfig.ts';
import { annotations, businessGroup } from '../api/names.ts';
import { defineResource } from '../kube/resource.ts';

export const nodeConfigs = defineResource<MultiNicNodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

/**
 * Whether an object is the provider's. Two registrations may name one cluster and namespace, and the token of one must
 * not reach the nodes of the other; an object that names no provider, or that somebody marked, may be taken by any.
 */
export function isOf(providerId: string, { metadata, spec }: MultiNicNodeConfig): boolean {
  return (
    spec.providerId === undefined ||
    spec.providerId === providerId ||
    metadata.annotations?.[annotations.takeOver] !== undefined
  );
}
