import * as z from 'zod';

// Short forms for value schemas. values.yaml shows an optional value as a comment.

type Shape = Readonly<Record<string, z.ZodType>>;

/** Object with exactly these keys. */
export function group<const S extends Shape>(description: string, shape: S) {
  return z.strictObject(shape).describe(description);
}

/** Non-empty text; to unset the value, omit the key or set null. */
export function text() {
  return z.string().min(1);
}

export function flag(value: boolean, description: string) {
  return z.boolean().describe(description).default(value);
}

export function whole(value: number, min: number, max: number, description: string) {
  return z.int().min(min).max(max).describe(description).default(value);
}

/** Valid name for a Kubernetes object. */
export function objectName() {
  return z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
}

/** Passed to Kubernetes unchanged; the API server validates the content. */
export function asIs(description: string) {
  return z.looseObject({}).describe(description).default({});
}

/** Labels, annotations, node selectors. */
export function textByName(description: string) {
  return z.record(z.string(), z.string()).describe(description).default({});
}
