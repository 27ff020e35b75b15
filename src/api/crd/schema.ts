import * as z from 'zod';

/** OpenAPI v3 schema in the form required by a CustomResourceDefinition. */
export type JsonSchema = Record<string, unknown>;

/**
 * Returns a zod type's structural schema, rewritten for Kubernetes. Patterns with known formats are dropped (zod's
 * use look-ahead, which RE2 refuses), safe-integer bounds become `format: int64`, and a union of literals becomes one
 * enum.
 */
export function crdSchema(schema: z.ZodType): JsonSchema {
  const json: unknown = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'throw',
    override: ({ jsonSchema }) => rewrite(jsonSchema as JsonSchema),
  });
  return json as JsonSchema;
}

function rewrite(schema: JsonSchema): void {
  if (typeof schema['format'] === 'string') delete schema['pattern'];
  if (schema['type'] === 'integer') boundInteger(schema);
  if (isEmptyObject(schema['additionalProperties'])) {
    delete schema['additionalProperties'];
    schema['x-kubernetes-preserve-unknown-fields'] = true;
  } else if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
}

const int32 = { minimum: -2_147_483_648, maximum: 2_147_483_647 };

/** Replaces zod's bounds for exact JavaScript integers with a CRD format. */
function boundInteger(schema: JsonSchema): void {
  const is32 = Number(schema['maximum']) <= int32.maximum;
  schema['format'] = is32 ? 'int32' : 'int64';
  if (schema['maximum'] === (is32 ? int32.maximum : Number.MAX_SAFE_INTEGER))
    delete schema['maximum'];
  const lowest = [int32.minimum, Number.MIN_SAFE_INTEGER];
  if (lowest.includes(Number(schema['minimum']))) delete schema['minimum'];
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
