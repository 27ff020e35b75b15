import * as z from 'zod';

/** Subset of JSON Schema that the charts use. */
export interface ValuesSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  /** Accepted for a single release; no page and no values.yaml lists this key. */
  readonly deprecated?: boolean;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, ValuesSchema>>;
  readonly additionalProperties?: false | ValuesSchema;
  readonly required?: readonly string[];
  readonly items?: ValuesSchema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ValuesSchema[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/**
 * Returns the schema with which Helm checks values after merging defaults: closed, and values with a default are required, because null
 * removes a default. Every Helm 3 and 4 reads draft 7.
 */
export function schemaOf(values: z.ZodType): ValuesSchema {
  return z.toJSONSchema(values, { io: 'output', target: 'draft-7' }) as ValuesSchema;
}

/** Allows null for optional values: with null, a values file resets a value from an earlier file. */
export function acceptingNull(schema: ValuesSchema): object {
  const { properties, required = [] } = schema;
  if (!properties) return schema;
  const accepting = Object.entries(properties).map(([key, property]): [string, object] => {
    const inner = acceptingNull(property);
    return [key, required.includes(key) ? inner : orNull(inner)];
  });
  const open: Record<string, object> = Object.fromEntries(accepting);
  return { ...schema, properties: open };
}

function orNull(schema: ValuesSchema): object {
  const { type, anyOf, enum: words } = schema;
  if (anyOf) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  return { ...schema, type: [type, 'null'].flat(), ...(words && { enum: [...words, null] }) };
}
