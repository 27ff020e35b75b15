import * as z from 'zod';
import { type NodeConfigStatus, nodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { businessGroup, labels } from '../api/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { defineResource } from '../kube/resource.ts';

/** The identity in a spec, checked; its entries are checked one by one by `acceptEntries`. */
const readableSpec = z.object({
  nodeName: z.string().optional(),
  instanceId: z.string().optional(),
  specHash: z.string().optional(),
  interfaces: z.array(z.unknown()).optional(),
});

export type ReadableSpec = z.infer<typeof readableSpec>;

/** A MultiNicNodeConfig as it was read: nothing in it is taken on trust. */
export interface NodeConfig extends KubeObject {
  /** Undefined when the spec is of no known form; then nothing may be changed on any node. */
  readonly spec: ReadableSpec | undefined;
  /** Which field of the spec has which flaw; empty when `spec` is there. */
  readonly flaw: string;
  /** Undefined when there is none, or one of a form that we cannot read: it is rebuilt then. */
  readonly status: NodeConfigStatus | undefined;
  /** Top-level keys of the status as stored, also those that we do not know. */
  readonly statusKeys: readonly string[];
}

type RawObject = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

/** Reads what a server with an older or looser CRD may hold; never throws. */
export function readNodeConfig(raw: unknown): NodeConfig {
  const { spec, status, ...object } = raw as RawObject;
  const readSpec = readableSpec.safeParse(spec);
  const readStatus = nodeConfigStatus.safeParse(status);
  const { managedFields: _, ...metadata } = object.metadata;
  return {
    ...object,
    metadata,
    spec: readSpec.data,
    flaw: readSpec.success ? '' : flawOf(readSpec.error),
    status: readStatus.data,
    statusKeys: status !== null && typeof status === 'object' ? Object.keys(status) : [],
  };
}

function flawOf(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => `${['spec', ...path].join('.')}: ${message}`)
    .join('; ');
}

export const nodeConfigs = defineResource<NodeConfig>({
  group: businessGroup,
  version: 'v1',
  plural: 'multinicnodeconfigs',
  kind: 'MultiNicNodeConfig',
  namespaced: true,
  parse: readNodeConfig,
});

/** Nova server id that the object names, lower case; undefined when it names none. */
export function instanceIdOf({ spec, metadata }: NodeConfig): string | undefined {
  const id = spec?.instanceId || metadata.labels?.[labels.instanceId];
  return id?.trim().toLowerCase() || undefined;
}

/** Name of the node as the object gives it. */
export function nodeNameOf({ spec, metadata }: NodeConfig): string {
  return spec?.nodeName || metadata.name;
}
