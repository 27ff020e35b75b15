import { conditions, keyedBy, objectMeta, open, stringMap } from '../schema/fragments.ts';
import type { Schema } from '../schema/schema.ts';
import { crdStrategy } from './crd-strategy.ts';
import { jobSchema } from './job-schema.ts';
import { jobStrategy } from './job-strategy.ts';
import { podSchema } from './pod-schema.ts';
import type { Column, ResourceType, Strategy } from './resource-type.ts';
import {
  dataStrategy,
  namespaceStrategy,
  nodeStrategy,
  podStrategy,
  secretStrategy,
} from './strategies.ts';

interface BuiltIn {
  readonly group?: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly clusterWide?: true;
  readonly fields?: Readonly<Record<string, Schema>>;
  readonly hasStatus?: true;
  readonly hasGeneration?: true;
  readonly fieldLabels?: readonly string[];
  readonly columns?: readonly Column[];
  readonly conditionalUpdate?: true;
  readonly strategy?: Strategy;
}

const withConditions = { status: open({ conditions }) };
const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion'];
const eventLabels = [...involved.map((field) => `involvedObject.${field}`), 'reason', 'type'];
const rbac = 'rbac.authorization.k8s.io';

const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function text(name: string, jsonPath: string): Column {
  return { name, type: 'string', jsonPath };
}

const table: readonly BuiltIn[] = [
  {
    plural: 'namespaces',
    kind: 'Namespace',
    shortNames: ['ns'],
    clusterWide: true,
    fields: withConditions,
    hasStatus: true,
    fieldLabels: ['status.phase'],
    strategy: namespaceStrategy,
  },
  {
    plural: 'nodes',
    kind: 'Node',
    shortNames: ['no'],
    clusterWide: true,
    fields: { status: open({ conditions, addresses: keyedBy(['type']) }) },
    hasStatus: true,
    fieldLabels: ['spec.unschedulable'],
    columns: [text('Ready', '.status.conditions[?(@.type=="Ready")].status'), age],
    strategy: nodeStrategy,
  },
  {
    plural: 'pods',
    kind: 'Pod',
    shortNames: ['po'],
    fields: podSchema,
    hasStatus: true,
    hasGeneration: true,
    fieldLabels: ['spec.nodeName', 'spec.restartPolicy', 'status.phase'],
    columns: [text('Status', '.status.phase'), text('Node', '.spec.nodeName'), age],
    strategy: podStrategy,
  },
  {
    plural: 'configmaps',
    kind: 'ConfigMap',
    shortNames: ['cm'],
    fields: { data: stringMap, binaryData: stringMap },
    strategy: dataStrategy,
  },
  {
    plural: 'secrets',
    kind: 'Secret',
    fields: { data: stringMap, stringData: stringMap },
    fieldLabels: ['type'],
    strategy: secretStrategy,
  },
  { plural: 'resourcequotas', kind: 'ResourceQuota', shortNames: ['quota'], hasStatus: true },
  { plural: 'serviceaccounts', kind: 'ServiceAccount', shortNames: ['sa'] },
  {
    plural: 'events',
    kind: 'Event',
    shortNames: ['ev'],
    fieldLabels: eventLabels,
    columns: [
      { name: 'Last Seen', type: 'date', jsonPath: '.lastTimestamp' },
      text('Type', '.type'),
      text('Reason', '.reason'),
      text('Object', '.involvedObject.name'),
      text('Message', '.message'),
    ],
  },
  {
    group: 'batch',
    plural: 'jobs',
    kind: 'Job',
    fields: jobSchema,
    hasStatus: true,
    hasGeneration: true,
    fieldLabels: ['status.successful'],
    columns: [text('Succeeded', '.status.succeeded'), text('Failed', '.status.failed'), age],
    strategy: jobStrategy,
  },
  { group: 'batch', plural: 'cronjobs', kind: 'CronJob', hasStatus: true, hasGeneration: true },
  {
    group: 'apps',
    plural: 'deployments',
    kind: 'Deployment',
    shortNames: ['deploy'],
    hasStatus: true,
    hasGeneration: true,
  },
  {
    group: 'apps',
    plural: 'statefulsets',
    kind: 'StatefulSet',
    shortNames: ['sts'],
    hasStatus: true,
    hasGeneration: true,
  },
  { plural: 'services', kind: 'Service', shortNames: ['svc'], hasStatus: true },
  { plural: 'endpoints', kind: 'Endpoints', shortNames: ['ep'] },
  { group: 'discovery.k8s.io', plural: 'endpointslices', kind: 'EndpointSlice' },
  { group: 'networking.k8s.io', plural: 'servicecidrs', kind: 'ServiceCIDR', clusterWide: true },
  {
    plural: 'persistentvolumeclaims',
    kind: 'PersistentVolumeClaim',
    shortNames: ['pvc'],
    hasStatus: true,
  },
  {
    group: 'policy',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    shortNames: ['pdb'],
    hasStatus: true,
    hasGeneration: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    clusterWide: true,
    hasGeneration: true,
  },
  {
    group: 'coordination.k8s.io',
    plural: 'leases',
    kind: 'Lease',
    conditionalUpdate: true,
  },
  {
    group: 'apiextensions.k8s.io',
    plural: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    shortNames: ['crd', 'crds'],
    clusterWide: true,
    fields: withConditions,
    hasStatus: true,
    hasGeneration: true,
    conditionalUpdate: true,
    strategy: crdStrategy,
  },
  {
    group: 'authorization.k8s.io',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
    clusterWide: true,
  },
  {
    group: 'admissionregistration.k8s.io',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    clusterWide: true,
    fields: { webhooks: keyedBy(['name']) },
    hasGeneration: true,
  },
  { group: rbac, plural: 'roles', kind: 'Role' },
  { group: rbac, plural: 'rolebindings', kind: 'RoleBinding' },
  { group: rbac, plural: 'clusterroles', kind: 'ClusterRole', clusterWide: true },
  { group: rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', clusterWide: true },
];

/** The kinds every cluster has, as far as parts and tests use them; all are v1. */
export const builtInTypes: readonly ResourceType[] = table.map((row) => ({
  group: row.group ?? '',
  version: 'v1',
  storageVersion: 'v1',
  plural: row.plural,
  singular: row.kind.toLowerCase(),
  kind: row.kind,
  shortNames: row.shortNames ?? [],
  categories: [],
  namespaced: row.clusterWide !== true,
  schema: open({ metadata: objectMeta, spec: open(), ...row.fields }),
  custom: false,
  hasStatus: row.hasStatus === true,
  hasGeneration: row.hasGeneration === true,
  fieldLabels: row.fieldLabels ?? [],
  columns: row.columns ?? [],
  unconditionalUpdate: row.conditionalUpdate !== true,
  strategy: row.strategy ?? {},
}));
