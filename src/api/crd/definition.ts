import type * as z from 'zod';
import { bizConfigSpec, bizConfigStatus } from '../multinicbizconfig.ts';
import { nodeConfigSpec, nodeConfigStatus } from '../multinicnodeconfig.ts';
import { multiNicOperatorSpec, multiNicOperatorStatus } from '../multinicoperator.ts';
import {
  annotations,
  type BizConfigGroup,
  bizConfigGroups,
  businessGroup,
  managementGroup,
} from '../names.ts';
import { openstackConfigSpec, openstackConfigStatus } from '../openstackconfig.ts';
import { crdSchema } from './schema.ts';
import { type DefinitionName, schemaNumbers } from './schema-numbers.ts';

interface Kind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** The first version is stored; all versions share one schema (conversion None). */
  readonly versions: readonly string[];
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly isSpecOptional?: boolean;
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  readonly priority?: number;
}

const ready = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;
const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;
const summary = (field: string) => `.status.summary.${field}`;
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

const openstackConfig: Kind = {
  group: managementGroup,
  kind: 'OpenstackConfig',
  plural: 'openstackconfigs',
  shortNames: ['osc'],
  versions: ['v1alpha1'],
  description:
    'Selects OpenStack servers and subnets whose ports become NICs of a business cluster.',
  spec: openstackConfigSpec,
  status: openstackConfigStatus,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: ready('status') },
    { name: 'Reason', type: 'string', jsonPath: ready('reason') },
    { name: 'Nodes', type: 'integer', jsonPath: '.status.summary.nodes' },
    { name: 'NICs', type: 'string', jsonPath: '.status.summary.nics' },
    { name: 'LastSync', type: 'date', jsonPath: '.status.lastSyncedAt' },
    age,
    { name: 'Provider', type: 'string', jsonPath: '.spec.credentials.k8sProviderID', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: ready('message'), priority: 1 },
  ],
};

const multiNicNodeConfig: Kind = {
  group: businessGroup,
  kind: 'MultiNicNodeConfig',
  plural: 'multinicnodeconfigs',
  shortNames: ['mnnc'],
  versions: ['v1', 'v1alpha1'],
  description: 'The NICs of one node; named like the node.',
  spec: nodeConfigSpec,
  status: nodeConfigStatus,
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: ready('status') },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'NICs', type: 'string', jsonPath: summary('nics') },
    { name: 'Drifted', type: 'string', jsonPath: condition('Drifted') },
    { name: 'Reason', type: 'string', jsonPath: ready('reason') },
    age,
    { name: 'Addresses', type: 'string', jsonPath: summary('addresses'), priority: 1 },
    { name: 'Instance', type: 'string', jsonPath: '.spec.instanceId', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: ready('message'), priority: 1 },
  ],
};

const multiNicOperator: Kind = {
  group: managementGroup,
  kind: 'MultiNicOperator',
  plural: 'multinicoperators',
  shortNames: ['mno'],
  versions: ['v1alpha1'],
  description: 'Installs the operator, MariaDB and backups, and protects them.',
  spec: multiNicOperatorSpec,
  status: multiNicOperatorStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Controller', type: 'string', jsonPath: '.status.controllerStatus.phase' },
    { name: 'Database', type: 'string', jsonPath: '.status.databaseStatus.phase' },
    { name: 'Protection', type: 'boolean', jsonPath: '.status.protectionStatus.active' },
    age,
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
  ],
};

function multiNicBizConfig(group: BizConfigGroup): Kind {
  return {
    group,
    kind: 'MultiNicBizConfig',
    plural: 'multinicbizconfigs',
    shortNames: ['mnbc', 'multinicclusterconfig', 'multinicclusterconfigs'],
    versions: ['v1'],
    description: 'The NICs of all nodes of a business cluster, in the legacy form.',
    spec: bizConfigSpec,
    status: bizConfigStatus,
    isSpecOptional: true,
    columns: [
      { name: 'Provider', type: 'string', jsonPath: '.spec.providerId' },
      { name: 'Nodes', type: 'integer', jsonPath: summary('totalNodes') },
      { name: 'Configured', type: 'integer', jsonPath: summary('configuredNodes') },
      { name: 'Failed', type: 'integer', jsonPath: summary('failedNodes') },
      { name: 'Pending', type: 'integer', jsonPath: summary('pendingNodes') },
      {
        name: 'Applied',
        type: 'string',
        jsonPath: condition('Applied'),
      },
      age,
      { name: 'Message', type: 'string', jsonPath: ready('message'), priority: 1 },
    ],
  };
}

/** Returns the installed CustomResourceDefinitions by file name. */
export function crdDefinitions() {
  return Object.fromEntries(
    [
      openstackConfig,
      multiNicNodeConfig,
      multiNicOperator,
      ...bizConfigGroups.map(multiNicBizConfig),
    ].map((kind) => [`${kind.group}_${kind.plural}.yaml`, definition(kind)]),
  );
}

function definition(kind: Kind) {
  const { group, plural } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: metadataOf(`${plural}.${group}` as DefinitionName),
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ['multinic'],
      },
      conversion: { strategy: 'None' },
      versions: kind.versions.map((name, at) => ({
        name,
        served: true,
        storage: at === 0,
        subresources: { status: {} },
        additionalPrinterColumns: kind.columns,
        schema: { openAPIV3Schema: objectSchema(kind) },
      })),
    },
  };
}

function metadataOf(name: DefinitionName) {
  return { name, annotations: { [annotations.schema]: String(schemaNumbers[name]) } };
}

function objectSchema({ description, spec, status, isSpecOptional = false }: Kind) {
  return {
    type: 'object',
    description,
    ...(isSpecOptional ? {} : { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string', description: 'Version of this kind.' },
      kind: { type: 'string', description: 'Name of this kind.' },
      // The API server owns metadata and refuses a description here.
      metadata: { type: 'object' },
      spec: { ...crdSchema(spec), description: 'Desired state.' },
      status: { ...crdSchema(status), description: 'Observed state.' },
    },
  };
}
