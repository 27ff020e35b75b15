import * as z from 'zod';

// Short forms for what values are made of. An optional value has no place in values.yaml but as a comment.

type Shape = Readonly<Record<string, z.ZodType>>;

/** Keys that belong together, and no others. */
export function group<const S extends Shape>(description: string, shape: S) {
  return z.strictObject(shape).describe(description);
}

/** Text that must not be empty; to unset a value, leave it out or say null. */
export function text() {
  return z.string().min(1);
}

export function flag(value: boolean, description: string) {
  return z.boolean().describe(description).default(value);
}

export function whole(value: number, min: number, max: number, description: string) {
  return z.int().min(min).max(max).describe(description).default(value);
}

/** A name as Kubernetes takes it for objects. */
export function objectName() {
  return z
    .string()
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
}

/** What is handed to Kubernetes as it is, and checked there. */
export function asIs(description: string) {
  return z.looseObject({}).describe(description).default({});
}

/** Labels, annotations, node selectors. */
export function textByName(description: string) {
  return z.record(z.string(), z.string()).describe(description).default({});
}
