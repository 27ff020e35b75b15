import * as z from 'zod';

/** JSON Schema of values, as far as ours use it. */
export interface ValuesSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  /** Accepted for one release; no page and no values.yaml offers it. */
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
 * What Helm checks values with, defaults put in: closed, and what has a default is required, since null takes it away. Draft
 * 7 is what every Helm 3 and 4 knows.
 */
export function schemaOf(values: z.ZodType): ValuesSchema {
  return z.toJSONSchema(values, { io: 'output', target: 'draft-7' }) as ValuesSchema;
}

/** What need not be there may be null: so a file of values takes back what one before it said. */
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
