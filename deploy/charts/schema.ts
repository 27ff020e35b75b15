import * as z from 'zod';

/** JSON Schema of values, as far as ours use it. */
export interface ValuesSchema {
  readonly type?: string;
  readonly description?: string;
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
