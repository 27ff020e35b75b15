import * as z from 'zod';
import { defined, type Json, type JsonObject } from './json.ts';

export interface OwnerReference extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** One manager's fields, as `metadata.managedFields` stores them. */
export interface ManagedFieldsEntry extends JsonObject {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1: JsonObject;
}

export interface Meta extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly generateName?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Meta;
}

const text = z.string();
const stringMap = z.record(text, text);

const ownerReference = z.looseObject({
  apiVersion: text,
  kind: text,
  name: text,
  uid: text,
  controller: z.boolean().optional(),
  blockOwnerDeletion: z.boolean().optional(),
});

const managedFieldsEntry = z.looseObject({
  manager: text,
  operation: z.enum(['Apply', 'Update']),
  apiVersion: text,
  subresource: text.optional(),
  time: text.optional(),
  fieldsType: text.optional(),
  fieldsV1: z.record(text, z.json()),
});

const meta = z.looseObject({
  name: text.default(''),
  namespace: text.optional(),
  generateName: text.optional(),
  uid: text.optional(),
  resourceVersion: text.optional(),
  generation: z.number().optional(),
  creationTimestamp: text.optional(),
  deletionTimestamp: text.optional(),
  labels: stringMap.optional(),
  annotations: stringMap.optional(),
  finalizers: z.array(text).optional(),
  ownerReferences: z.array(ownerReference).optional(),
  managedFields: z.array(managedFieldsEntry).optional(),
});

/** The envelope of every object; whatever a kind adds is its schema's business. */
const envelope = z.looseObject({
  apiVersion: text.min(1),
  kind: text.min(1),
  metadata: z.preprocess(dropEmpty, meta).prefault({}),
});

export type Parsed = { readonly object: KubeObject } | { readonly problem: string };

/** Reads a Kubernetes object from a request body; `problem` names the first field that cannot be one. */
export function parseObject(body: unknown): Parsed {
  const result = envelope.safeParse(body);
  if (result.success) return { object: result.data as KubeObject };
  const issue = result.error.issues[0];
  return { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not an object'}` };
}

/** In metadata null, an empty list and an empty map mean "not set", as Go's decoder and encoder have it. */
function dropEmpty(value: unknown): unknown {
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => !isEmpty(member)));
}

function isEmpty(member: unknown): boolean {
  if (member === null) return true;
  return typeof member === 'object' && Object.keys(member).length === 0;
}

/** A copy with other metadata; keys set to undefined are removed. */
export function withMeta(
  object: KubeObject,
  change: Readonly<Record<string, Json | undefined>>,
): KubeObject {
  return { ...object, metadata: defined({ ...object.metadata, ...change }) as Meta };
}

/** "namespace/name", or "name" of a cluster-wide object. */
export function keyOf(object: { readonly metadata: Meta }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}
