import type { ValidatingWebhookConfiguration as ValidatingWebhookConfigurationV1 } from 'kubernetes-types/admissionregistration/v1.js';
import type { CustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.js';
import type {
  Deployment as DeploymentV1,
  StatefulSet as StatefulSetV1,
} from 'kubernetes-types/apps/v1.js';
import type { TokenRequest as TokenRequestV1 } from 'kubernetes-types/authentication/v1.js';
import type { CronJob as CronJobV1, Job as JobV1 } from 'kubernetes-types/batch/v1.js';
import type { Lease as LeaseV1 } from 'kubernetes-types/coordination/v1.js';
import type {
  ConfigMap as ConfigMapV1,
  Event as EventV1,
  Namespace as NamespaceV1,
  Node as NodeV1,
  PersistentVolumeClaim as PersistentVolumeClaimV1,
  Pod as PodV1,
  Secret as SecretV1,
  ServiceAccount as ServiceAccountV1,
  Service as ServiceV1,
} from 'kubernetes-types/core/v1.js';
import type { PodDisruptionBudget as PodDisruptionBudgetV1 } from 'kubernetes-types/policy/v1.js';
import type { RoleBinding as RoleBindingV1, Role as RoleV1 } from 'kubernetes-types/rbac/v1.js';
import type { KubeObject } from './object.ts';
import { defineResource, type Resource } from './resource.ts';

/** A published type with our `metadata`: the name is always set in read objects. */
type Typed<T> = Omit<T, keyof KubeObject> & KubeObject;

export type Node = Typed<NodeV1>;
export type Pod = Typed<PodV1>;
export type Job = Typed<JobV1>;
export type ConfigMap = Typed<ConfigMapV1>;
export type Secret = Typed<SecretV1>;
export type Namespace = Typed<NamespaceV1>;
export type Lease = Typed<LeaseV1>;
export type EventObject = Typed<EventV1>;
export type ServiceAccount = Typed<ServiceAccountV1>;
export type Role = Typed<RoleV1>;
export type RoleBinding = Typed<RoleBindingV1>;
export type TokenRequest = Typed<TokenRequestV1>;
export type Deployment = Typed<DeploymentV1>;
export type StatefulSet = Typed<StatefulSetV1>;
export type Service = Typed<ServiceV1>;
export type PersistentVolumeClaim = Typed<PersistentVolumeClaimV1>;
export type CronJob = Typed<CronJobV1>;
export type PodDisruptionBudget = Typed<PodDisruptionBudgetV1>;
export type ValidatingWebhookConfiguration = Typed<ValidatingWebhookConfigurationV1>;
export type Crd = Typed<CustomResourceDefinition>;

const core = { group: '', version: 'v1' } as const;

export const nodes = defineResource<Node>({
  ...core,
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
});
export const pods = defineResource<Pod>({
  ...core,
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});
export const configMaps = defineResource<ConfigMap>({
  ...core,
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
export const secrets = defineResource<Secret>({
  ...core,
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
});
export const namespaces = defineResource<Namespace>({
  ...core,
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});
export const events = defineResource<EventObject>({
  ...core,
  plural: 'events',
  kind: 'Event',
  namespaced: true,
});
export const jobs = defineResource<Job>({
  group: 'batch',
  version: 'v1',
  plural: 'jobs',
  kind: 'Job',
  namespaced: true,
});
export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});
export const crds = defineResource<Crd>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

const apps = { group: 'apps', version: 'v1' } as const;

export const deployments = defineResource<Deployment>({
  ...apps,
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});
export const statefulSets = defineResource<StatefulSet>({
  ...apps,
  plural: 'statefulsets',
  kind: 'StatefulSet',
  namespaced: true,
});
export const services = defineResource<Service>({
  ...core,
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});
export const claims = defineResource<PersistentVolumeClaim>({
  ...core,
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
  namespaced: true,
});
export const cronJobs = defineResource<CronJob>({
  group: 'batch',
  version: 'v1',
  plural: 'cronjobs',
  kind: 'CronJob',
  namespaced: true,
});
export const disruptionBudgets = defineResource<PodDisruptionBudget>({
  group: 'policy',
  version: 'v1',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
});
export const validatingWebhookConfigurations = defineResource<ValidatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
});

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;

export const serviceAccounts = defineResource<ServiceAccount>({
  ...core,
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});
export const roles = defineResource<Role>({
  ...rbac,
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
});
export const roleBindings = defineResource<RoleBinding>({
  ...rbac,
  plural: 'rolebindings',
  kind: 'RoleBinding',
  namespaced: true,
});

/** Returns the subresource for creating a ServiceAccount token: created, never read (Kubernetes TokenRequest API). */
export function tokenRequestsOf(serviceAccount: string): Resource<TokenRequest> {
  return defineResource<TokenRequest>({
    ...core,
    plural: `serviceaccounts/${serviceAccount}/token`,
    kind: 'TokenRequest',
    objectVersion: 'authentication.k8s.io/v1',
    namespaced: true,
  });
}
