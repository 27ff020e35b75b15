import type { Json } from '../objects/json.ts';
import type { Schema } from './schema.ts';

/** An object of a built-in kind: what is not listed here is kept as it comes. */
export function open(properties: Readonly<Record<string, Schema>> = {}): Schema {
  return { type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true };
}

/** A list whose entries are told apart by these fields. */
export function keyedBy(keys: readonly string[], items: Schema = open()): Schema {
  return {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  };
}

export function withDefault(value: Json): Schema {
  return { default: value };
}

export const stringMap: Schema = { type: 'object', additionalProperties: { type: 'string' } };

const stringSet: Schema = {
  type: 'array',
  items: { type: 'string' },
  'x-kubernetes-list-type': 'set',
};

const atomicObject: Schema = { ...open(), 'x-kubernetes-map-type': 'atomic' };

/** `metadata` of every kind. */
export const objectMeta: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    generateName: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
    resourceVersion: { type: 'string' },
    generation: { type: 'integer' },
    creationTimestamp: { type: 'string', nullable: true },
    deletionTimestamp: { type: 'string', nullable: true },
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: { type: 'string' },
    labels: stringMap,
    annotations: stringMap,
    finalizers: stringSet,
    ownerReferences: keyedBy(['uid'], atomicObject),
    managedFields: { type: 'array', items: open() },
  },
};

export const conditions = keyedBy(['type']);
