import { canonicalText, isList, isObject, type Json, type JsonObject } from '../objects/json.ts';
import type { Cause } from '../objects/status-error.ts';
import { fitsFormat } from './formats.ts';
import { memberSchema, type Schema } from './schema.ts';

/** Every way in which a value breaks its structural schema, worded like the real server's causes. */
export function validate(value: Json, schema: Schema, path = ''): readonly Cause[] {
  if (value === null && schema.nullable === true) return [];
  const found = typeName(value);
  if (!hasType(value, found, schema)) {
    const wanted = schema.type ?? 'integer,string';
    const what = `${path} in body must be of type ${wanted}: "${found}"`;
    return [cause('FieldValueTypeInvalid', path, `Invalid value: "${found}": ${what}`)];
  }
  return [...enumCauses(value, schema, path), ...contentCauses(value, schema, path)];
}

function contentCauses(value: Json, schema: Schema, path: string): readonly Cause[] {
  if (typeof value === 'string') return stringCauses(value, schema, path);
  if (typeof value === 'number') return numberCauses(value, schema, path);
  if (isList(value)) return listCauses(value, schema, path);
  return isObject(value) ? objectCauses(value, schema, path) : [];
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function hasType(value: Json, found: string, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string']) return found === 'integer' || found === 'string';
  if (schema.type === undefined) return true;
  return found === schema.type || (schema.type === 'number' && typeof value === 'number');
}

function enumCauses(value: Json, schema: Schema, path: string): readonly Cause[] {
  if (!schema.enum || schema.enum.some((one) => canonicalText(one) === canonicalText(value))) {
    return [];
  }
  const supported = schema.enum.map(quoted).join(', ');
  const message = `Unsupported value: ${quoted(value)}: supported values: ${supported}`;
  return [cause('FieldValueNotSupported', path, message)];
}

/** Length comes before pattern and format; only the first of them is reported. */
function stringCauses(value: string, schema: Schema, path: string): readonly Cause[] {
  const { maxLength, minLength, pattern, format } = schema;
  const length = Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) {
    return [cause('FieldValueTooLong', path, `Too long: may not be more than ${maxLength} bytes`)];
  }
  if (minLength !== undefined && length < minLength) {
    return [inBody(value, path, `should be at least ${minLength} chars long`)];
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return [inBody(value, path, `should match '${pattern}'`)];
  }
  if (format === undefined || fitsFormat(value, format)) return [];
  const what = `${path} in body must be of type ${format}: ${quoted(value)}`;
  return [cause('FieldValueTypeInvalid', path, `Invalid value: ${quoted(value)}: ${what}`)];
}

function numberCauses(value: number, schema: Schema, path: string): readonly Cause[] {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && value < minimum) {
    return [inBody(value, path, `should be greater than or equal to ${minimum}`)];
  }
  if (maximum !== undefined && value > maximum) {
    return [inBody(value, path, `should be less than or equal to ${maximum}`)];
  }
  return [];
}

function listCauses(list: readonly Json[], schema: Schema, path: string): readonly Cause[] {
  const { items, minItems, maxItems } = schema;
  const causes: Cause[] = [];
  if (maxItems !== undefined && list.length > maxItems) causes.push(tooMany(list, maxItems, path));
  if (minItems !== undefined && list.length < minItems) {
    causes.push(inBody(list.length, path, `should have at least ${minItems} items`));
  }
  if (items) causes.push(...list.flatMap((item, i) => validate(item, items, `${path}[${i}]`)));
  return [...causes, ...duplicateCauses(list, schema, path)];
}

function tooMany(list: readonly Json[], maxItems: number, path: string): Cause {
  const message = `Too many: ${list.length}: must have at most ${maxItems} items`;
  return cause('FieldValueTooMany', path, message);
}

/** Lists that are sets or maps by key hold each entry once. */
function duplicateCauses(list: readonly Json[], schema: Schema, path: string): readonly Cause[] {
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return [];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const identity = (item: Json): Json =>
    kind === 'map' && isObject(item)
      ? Object.fromEntries(keys.flatMap((key) => (key in item ? [[key, item[key] ?? null]] : [])))
      : item;
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const text = canonicalText(identity(item));
    if (!seen.has(text)) {
      seen.add(text);
      return [];
    }
    return [cause('FieldValueDuplicate', `${path}[${index}]`, `Duplicate value: ${text}`)];
  });
}

function objectCauses(object: JsonObject, schema: Schema, path: string): readonly Cause[] {
  const child = (key: string): string => (path ? `${path}.${key}` : key);
  const missing = (schema.required ?? []).filter((key) => !Object.hasOwn(object, key));
  const causes = missing.map((key) => cause('FieldValueRequired', child(key), 'Required value'));
  const size = Object.keys(object).length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    const message = `Too many: ${size}: must have at most ${schema.maxProperties} items`;
    causes.push(cause('FieldValueTooMany', path, message));
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    causes.push(inBody(size, path, `should have at least ${schema.minProperties} properties`));
  }
  for (const [key, member] of Object.entries(object)) {
    const known = memberSchema(schema, key);
    if (known) causes.push(...validate(member, known, child(key)));
  }
  return causes;
}

function inBody(value: Json, path: string, rule: string): Cause {
  const message = `Invalid value: ${quoted(value)}: ${path} in body ${rule}`;
  return cause('FieldValueInvalid', path, message);
}

function cause(reason: string, field: string, message: string): Cause {
  return { reason, message, field };
}

function quoted(value: Json): string {
  return typeof value === 'string' ? JSON.stringify(value) : canonicalText(value);
}
