import type { Service } from 'kubernetes-types/core/v1.js';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.js';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.js';
import type { RoleBinding } from 'kubernetes-types/rbac/v1.js';
import { agentAppName, labels } from '../../../src/api/names.ts';
import { type Manifest, ofKind, type Workload, workloadsIn } from './manifests.ts';

type Labels = Readonly<Record<string, string>>;

/** What linters look for between objects: what names another one that is not there. */
export function linkFindings(manifests: readonly Manifest[]): string[] {
  const workloads = workloadsIn(manifests);
  return [
    ...workloads.flatMap((workload) => ofWorkload(workload, manifests)),
    ...ofKind<Service>(manifests, 'Service').flatMap((service) => ofService(service, workloads)),
    ...ofKind<ServiceMonitor>(manifests, 'ServiceMonitor').flatMap((monitor) =>
      ofMonitor(monitor, ofKind<Service>(manifests, 'Service')),
    ),
    ...ofKind<NetworkPolicy>(manifests, 'NetworkPolicy').flatMap((policy) =>
      ofPolicy(policy, workloads),
    ),
    ...['RoleBinding', 'ClusterRoleBinding'].flatMap((kind) =>
      ofKind<RoleBinding>(manifests, kind).flatMap((binding) => ofBinding(binding, manifests)),
    ),
  ];
}

function ofWorkload(workload: Workload, manifests: readonly Manifest[]): string[] {
  return workloadLooks
    .map((look) => look(workload, manifests))
    .filter((text) => text !== false)
    .map((text) => `Pods of ${workload.metadata.name} ${text}`);
}

const workloadLooks: readonly ((one: Workload, all: readonly Manifest[]) => string | false)[] = [
  ({ pod: { spec } }, all) =>
    !isThere(all, 'ServiceAccount', spec.serviceAccountName) && 'has no ServiceAccount',
  ({ pod: { spec } }, all) => {
    const { priorityClassName: name = 'system-default' } = spec;
    const isOfCluster = name.startsWith('system-');
    return (
      !isOfCluster && !isThere(all, 'PriorityClass', name) && `has a priority ${name} that is not`
    );
  },
  ({ selector, pod: { metadata } }) =>
    selector !== undefined && !isSelected(metadata.labels, selector) && 'selects other Pods',
  (workload, all) =>
    workload.replicas > 1 && budgetsOf(workload, all) === 0 && 'has no budget of disruptions',
  (workload, all) =>
    workload.replicas <= 1 && budgetsOf(workload, all) > 0 && 'holds up every drain',
  ({ metadata, pod }, all) => {
    const policies = ofKind<NetworkPolicy>(all, 'NetworkPolicy').filter(
      (policy) =>
        policy.metadata?.namespace === metadata.namespace &&
        isSelected(pod.metadata.labels, policy.spec?.podSelector?.matchLabels),
    );
    return policies.length === 0 && 'may talk to everybody';
  },
];

function isThere(all: readonly Manifest[], kind: string, name: string | undefined): boolean {
  return all.some((one) => one.kind === kind && one.metadata?.name === name);
}

function budgetsOf({ pod }: Workload, all: readonly Manifest[]): number {
  return ofKind<PodDisruptionBudget>(all, 'PodDisruptionBudget').filter(({ spec }) =>
    isSelected(pod.metadata.labels, spec?.selector?.matchLabels),
  ).length;
}

function isSelected(own: Labels = {}, selector: Labels = {}): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => own[key] === value);
}

function ofService({ metadata, spec }: Service, workloads: readonly Workload[]): string[] {
  const behind = workloads.filter(({ pod }) => isSelected(pod.metadata.labels, spec?.selector));
  if (behind.length !== 1) return [`Service ${metadata?.name} has ${behind.length} workloads`];
  const names = behind.flatMap(({ pod }) =>
    pod.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)),
  );
  const gone = spec?.ports?.find(({ targetPort }) => !names.includes(String(targetPort)));
  return gone ? [`Service ${metadata?.name} leads to ${gone.targetPort}, which is no port`] : [];
}

interface ServiceMonitor extends Manifest {
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels };
    readonly endpoints: readonly { readonly port: string }[];
  };
}

function ofMonitor({ metadata, spec }: ServiceMonitor, services: readonly Service[]): string[] {
  const behind = services.filter((service) =>
    isSelected(service.metadata?.labels, spec.selector.matchLabels),
  );
  const ports = behind.flatMap((service) => service.spec?.ports?.map(({ name }) => name));
  const isFound = behind.length === 1 && spec.endpoints.every(({ port }) => ports.includes(port));
  return isFound ? [] : [`ServiceMonitor ${metadata?.name} finds no port`];
}

/** Labels by which the controller marks the Pods of its agents, which no template of the charts has. */
const agentLabels: Labels = {
  [labels.appName]: agentAppName,
  [labels.component]: 'agent',
  [labels.managedBy]: 'multinic',
};

/** Labels of Pods that lifecycle makes, and the one that says so. */
const managed = { app: ['mariadb', 'mariadb-backup'], by: labels.managedByOperator };

function isOfLifecycle({ spec }: NetworkPolicy): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.podSelector ?? {};
  const keys = [...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)];
  return (
    managed.app.includes(matchLabels['app'] ?? '') &&
    keys.some((key) => key === labels.protected || key === managed.by)
  );
}

/** A policy selects Pods of ours alone: its namespace may be shared, such as kube-system. */
function ofPolicy(policy: NetworkPolicy, workloads: readonly Workload[]): string[] {
  if (isOfLifecycle(policy)) return [];
  const { metadata, spec } = policy;
  const wanted = spec?.podSelector?.matchLabels ?? {};
  const named = `NetworkPolicy ${metadata?.name}`;
  const ours = [...workloads.map(({ pod }) => pod.metadata.labels), agentLabels];
  if (!ours.some((own) => isSelected(own, wanted))) return [`${named} selects no Pod of ours`];
  const missing = [labels.appName, labels.component].filter((label) => !(label in wanted));
  return missing.length === 0 ? [] : [`${named} selects Pods of others: no ${missing.join(', ')}`];
}

/** Of a binding, both ends have to be in the chart: whoever is missing has no rights, and nobody says so. */
function ofBinding(binding: RoleBinding, manifests: readonly Manifest[]): string[] {
  const { kind, metadata, roleRef, subjects = [] } = binding;
  const named = `${kind} ${metadata?.name}`;
  const role = manifests.find(
    (one) =>
      one.kind === roleRef.kind &&
      one.metadata?.name === roleRef.name &&
      (one.kind === 'ClusterRole' || one.metadata?.namespace === metadata?.namespace),
  );
  const strangers = subjects.filter(
    (subject) =>
      !manifests.some(
        (one) =>
          one.kind === subject.kind &&
          one.metadata?.name === subject.name &&
          one.metadata?.namespace === subject.namespace,
      ),
  );
  return [
    ...(role ? [] : [`${named} binds no role`]),
    ...strangers.map(({ name }) => `${named} is for ${name}, who is not there`),
  ];
}
