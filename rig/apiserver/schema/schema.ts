import * as z from 'zod';
import type { Json } from '../objects/json.ts';

/**
 * A structural schema as `openAPIV3Schema` of a CustomResourceDefinition carries it; only what this server acts on.
 * Built-in kinds are described with the same type, open to fields nobody lists.
 */
export interface Schema {
  readonly type?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly items?: Schema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly nullable?: boolean | undefined;
  readonly default?: Json | undefined;
  readonly enum?: readonly Json[] | undefined;
  readonly pattern?: string | undefined;
  readonly format?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly minProperties?: number | undefined;
  readonly maxProperties?: number | undefined;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean | undefined;
  readonly 'x-kubernetes-int-or-string'?: boolean | undefined;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map' | undefined;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[] | undefined;
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular' | undefined;
}

const count = z.number().int().nonnegative().optional();

/** Reads a schema out of a CustomResourceDefinition; keywords this server does not act on are let through. */
export const schemaEdge: z.ZodType<Schema> = z.looseObject({
  type: z.string().optional(),
  get properties() {
    return z.record(z.string(), schemaEdge).optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), schemaEdge]).optional();
  },
  get items() {
    return schemaEdge.optional();
  },
  required: z.array(z.string()).optional(),
  nullable: z.boolean().optional(),
  default: z.json().optional(),
  enum: z.array(z.json()).optional(),
  pattern: z.string().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  'x-kubernetes-preserve-unknown-fields': z.boolean().optional(),
  'x-kubernetes-int-or-string': z.boolean().optional(),
  'x-kubernetes-list-type': z.enum(['atomic', 'set', 'map']).optional(),
  'x-kubernetes-list-map-keys': z.array(z.string()).optional(),
  'x-kubernetes-map-type': z.enum(['atomic', 'granular']).optional(),
});

/** True when fields that the schema does not list are kept. */
export function keepsUnknown(schema: Schema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** The schema of one member of an object; `undefined` when the schema says nothing about it. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  const declared = schema.properties;
  if (declared && Object.hasOwn(declared, key)) return declared[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** True when the schema allows this member. */
export function allowsMember(schema: Schema, key: string): boolean {
  if (keepsUnknown(schema) || schema.additionalProperties === true) return true;
  return memberSchema(schema, key) !== undefined;
}
