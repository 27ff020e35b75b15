import type { JsonSchema } from './schema.ts';

const keywords = new Set(
  [
    'type properties items required description default enum format pattern nullable',
    'minimum maximum minLength maxLength minItems maxItems',
    'minProperties maxProperties additionalProperties',
  ].flatMap((line) => line.split(' ')),
);

/** Returns schema errors that a real API server would report, plus fields without description. */
export function structuralErrors(schema: JsonSchema, at = '$'): string[] {
  return [...ownErrors(schema, at), ...innerErrors(schema, at)];
}

function ownErrors(schema: JsonSchema, at: string): string[] {
  const errors: string[] = [];
  for (const key of Object.keys(schema)) {
    if (!keywords.has(key) && !key.startsWith('x-kubernetes-'))
      errors.push(`${at}: ${key} is not allowed`);
  }
  if (schema['type'] === undefined) errors.push(`${at}: type is required`);
  if (schema['properties'] && schema['additionalProperties']) {
    errors.push(`${at}: properties and additionalProperties exclude each other`);
  }
  const pattern = schema['pattern'];
  if (typeof pattern === 'string' && /\(\?[=!<]|\\[1-9]/.test(pattern)) {
    errors.push(`${at}: the pattern is not RE2`);
  }
  return errors;
}

function innerErrors(schema: JsonSchema, at: string): string[] {
  const errors: string[] = [];
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as JsonSchema)) {
    const path = `${at}.${name}`;
    const described = path === '$.metadata' || (inner as JsonSchema)['description'];
    if (!described) errors.push(`${path}: description is missing`);
    errors.push(...structuralErrors(inner as JsonSchema, path));
  }
  for (const [key, suffix] of [['items', '[]'] as const, ['additionalProperties', '{}'] as const]) {
    const inner = schema[key];
    if (inner && typeof inner === 'object') {
      errors.push(...structuralErrors(inner as JsonSchema, `${at}${suffix}`));
    }
  }
  return errors;
}
