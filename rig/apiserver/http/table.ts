import type { Json, JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Column, ResourceType } from '../resources/resource-type.ts';
import { valuesAt } from './json-path.ts';

const nameColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object.',
  priority: 0,
};
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Whether the caller reads tables, as `kubectl get` does. */
export function wantsTable(accept: string | undefined): boolean {
  return accept?.includes('as=Table') === true;
}

/** Returns a Table (meta.k8s.io/v1) of the objects; `metadata` is that of the list, if it is one. */
export function tableOf(
  type: ResourceType,
  objects: readonly JsonObject[],
  now: Date,
  metadata: Json = {},
): JsonObject {
  const columns = type.columns.length > 0 ? type.columns : [age];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: [nameColumn, ...columns.map(definitionOf)],
    rows: objects.map((object) => {
      const { metadata: own } = object as KubeObject;
      return {
        cells: [own.name, ...columns.map((column) => cellOf(object, column, now))],
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: own },
      };
    }),
  };
}

function definitionOf({ name, type, description = '', priority = 0 }: Column): JsonObject {
  return { name, type, format: '', description, priority };
}

function cellOf(object: JsonObject, { type, jsonPath }: Column, now: Date): Json {
  const values = valuesAt(object, jsonPath);
  const [first] = values;
  if (type === 'date') return typeof first === 'string' ? ageOf(first, now) : '<unknown>';
  if (values.length > 1) return values.map(textOf).join(',');
  if (first === undefined) return null;
  return typeof first === 'object' && first !== null ? textOf(first) : first;
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const units: readonly (readonly [unit: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
];

/** A duration as kubectl shows ages, such as `3m`; the real server adds a second unit to short ones. */
function ageOf(time: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(time)) / 1000));
  for (const [unit, size] of units) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)}${unit}`;
  }
  return `${seconds}s`;
}
