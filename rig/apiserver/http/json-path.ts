import { isList, isObject, type Json } from '../objects/json.ts';

/** One step of a JSONPath: a member, a list index, all items, or the items whose member has a value. */
const step = /^(?:\.([\w-]+)|\[(\d+)\]|\[\*\]|\[\?\(@\.([\w-]+)==["']([^"']*)["']\)\])/;

/**
 * Returns the values that a JSONPath of a printer column selects, such as `.status.conditions[?(@.type=="Ready")].status`.
 * Other forms of JSONPath select nothing.
 */
export function valuesAt(object: Json, path: string): readonly Json[] {
  let values: readonly Json[] = [object];
  let rest = path;
  while (rest !== '') {
    const match = step.exec(rest);
    if (!match) return [];
    values = values.flatMap((value) => selected(value, match));
    rest = rest.slice(match[0].length);
  }
  return values;
}

function selected(value: Json, [, member, index, key, wanted]: RegExpExecArray): readonly Json[] {
  if (member !== undefined) {
    return isObject(value) && value[member] !== undefined ? [value[member]] : [];
  }
  if (!isList(value)) return [];
  if (index !== undefined) return value.slice(Number(index), Number(index) + 1);
  if (key === undefined) return value;
  return value.filter((item) => isObject(item) && item[key] === wanted);
}
