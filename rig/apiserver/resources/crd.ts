import * as z from 'zod';
import type { KubeObject } from '../objects/object.ts';
import { objectMeta } from '../schema/fragments.ts';
import { type Schema, schemaEdge } from '../schema/schema.ts';
import type { ResourceType } from './resource-type.ts';

const version = z.looseObject({
  name: z.string(),
  served: z.boolean(),
  storage: z.boolean(),
  schema: z.looseObject({ openAPIV3Schema: schemaEdge }),
  subresources: z.looseObject({ status: z.looseObject({}).optional() }).optional(),
  additionalPrinterColumns: z
    .array(
      z.looseObject({
        name: z.string(),
        type: z.string(),
        description: z.string().optional(),
        priority: z.number().optional(),
        jsonPath: z.string(),
      }),
    )
    .default([]),
  selectableFields: z.array(z.looseObject({ jsonPath: z.string() })).default([]),
});

const names = z.looseObject({
  plural: z.string(),
  kind: z.string(),
  singular: z.string().optional(),
  shortNames: z.array(z.string()).default([]),
  categories: z.array(z.string()).default([]),
});

/** `spec` of a CustomResourceDefinition, as far as it decides how its objects behave. */
export const crdSpecEdge = z.looseObject({
  group: z.string(),
  names,
  scope: z.enum(['Namespaced', 'Cluster']),
  versions: z.array(version).min(1),
});

export type CrdSpec = z.infer<typeof crdSpecEdge>;

/** The kinds that a definition serves, one per served version; throws when the definition was never accepted. */
export function customTypes(definition: KubeObject): readonly ResourceType[] {
  const spec = crdSpecEdge.parse(definition['spec']);
  const stored = spec.versions.find((one) => one.storage)?.name ?? '';
  return spec.versions
    .filter((one) => one.served)
    .map((one) => ({
      group: spec.group,
      version: one.name,
      storageVersion: stored,
      plural: spec.names.plural,
      singular: spec.names.singular ?? spec.names.kind.toLowerCase(),
      kind: spec.names.kind,
      shortNames: spec.names.shortNames,
      categories: spec.names.categories,
      namespaced: spec.scope === 'Namespaced',
      schema: wholeObject(one.schema.openAPIV3Schema),
      custom: true,
      hasStatus: one.subresources?.status !== undefined,
      hasGeneration: true,
      fieldLabels: one.selectableFields.map((field) => field.jsonPath.replace(/^\./, '')),
      columns: one.additionalPrinterColumns,
      unconditionalUpdate: false,
      strategy: {},
    }));
}

/** A definition never says what metadata looks like; every object has the same. */
function wholeObject(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const properties = { ...schema.properties, apiVersion: text, kind: text, metadata: objectMeta };
  return { ...schema, type: 'object', properties };
}
