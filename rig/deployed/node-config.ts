import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';

/** An entry as the deployed Viola writes it. */
export interface Interface {
  readonly id?: number;
  readonly name?: string;
  readonly macAddress: string;
  readonly address?: string;
  readonly cidr?: string;
  readonly mtu?: number;
}

/** A MultiNicNodeConfig as the deployed programs read it. */
export interface NodeConfig extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly instanceId?: string;
    readonly interfaces?: readonly Interface[];
  };
  readonly status?: {
    readonly state?: string;
    readonly observedGeneration?: number;
    readonly [field: string]: unknown;
  };
}

/** The only version that they know. */
export const nodeConfigs = defineResource<NodeConfig>({
  group: 'multinic.io',
  version: 'v1alpha1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
});

export function pathOf(namespace: string, name: string): string {
  return `/apis/multinic.io/v1alpha1/namespaces/${namespace}/multinicnodeconfigs/${name}`;
}
