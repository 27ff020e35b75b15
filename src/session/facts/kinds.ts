import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { businessGroup, managementGroup } from '../../api/names.ts';
import type { OpenstackConfig } from '../../api/openstackconfig.ts';
import type { KubeObject } from '../../kube/object.ts';
import { defineResource } from '../../kube/resource.ts';

/** OpenstackConfig as read by commands. */
export type ConfigObject = OpenstackConfig & KubeObject;

export const openstackConfigs = defineResource<ConfigObject>({
  group: managementGroup,
  version: 'v1alpha1',
  plural: 'openstackconfigs',
  kind: 'OpenstackConfig',
  namespaced: true,
});

/** A MultiNicOperator: a server without our schema may store any content. */
interface OperatorObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

export const multiNicOperators = defineResource<OperatorObject>({
  group: managementGroup,
  version: 'v1alpha1',
  plural: 'multinicoperators',
  kind: 'MultiNicOperator',
  namespaced: true,
});

export const nodeConfigs = defineResource<MultiNicNodeConfig & KubeObject>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});
