import type { MultiNicNodeConfig } from '../../src/api/multinicnodeconfig.ts';
import { businessGroup, managementGroup } from '../../src/api/names.ts';
import type { OpenstackConfig } from '../../src/api/openstackconfig.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource, type Resource } from '../../src/kube/resource.ts';

export const nodeConfigs: Resource<MultiNicNodeConfig> = defineResource<MultiNicNodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

export const openstackConfigs: Resource<OpenstackConfig> = defineResource<OpenstackConfig>({
  group: managementGroup,
  version: 'v1alpha1',
  plural: 'openstackconfigs',
  kind: 'OpenstackConfig',
  namespaced: true,
});

export interface ResourceQuota extends KubeObject {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
}

export const resourceQuotas: Resource<ResourceQuota> = defineResource<ResourceQuota>({
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
});
