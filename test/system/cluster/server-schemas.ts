import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Subset of an API server's /openapi/v2 for this test. */
export interface OpenApi {
  readonly definitions: Readonly<Record<string, Definition>>;
}

interface Definition {
  readonly properties?: Readonly<Record<string, Definition>>;
  readonly additionalProperties?: Definition | boolean;
  readonly items?: Definition;
  readonly format?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  readonly [key: string]: unknown;
}

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** kubeconform's schema path below the folder from `writeSchemas`. */
export const schemaLocation = '{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json';

/** Writes a strict JSON Schema for each kind: unknown fields are refused. */
export async function writeSchemas({ definitions }: OpenApi, folder: string): Promise<void> {
  const strict = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [name, strictly(definition)]),
  );
  await writeFile(join(folder, 'definitions.json'), JSON.stringify({ definitions: strict }));
  for (const [name, definition] of Object.entries(definitions)) {
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
      const $ref = `../definitions.json#/definitions/${name}`;
      // kubeconform takes what stands before a slash for the group, and the core group has none.
      const place = join(folder, group === '' ? version : group);
      await mkdir(place, { recursive: true });
      const file = join(place, `${kind.toLowerCase()}_${version}.json`);
      await writeFile(file, JSON.stringify({ $ref }));
    }
  }
}

/** Closed where properties are named, and with numbers where a port or a share may be one. */
function strictly(definition: Definition): Definition {
  if (definition.format === 'int-or-string')
    return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const { properties, items, additionalProperties } = definition;
  return {
    ...definition,
    ...(items && { items: strictly(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: strictly(additionalProperties),
    }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, inner]) => [key, strictly(inner)]),
      ),
      additionalProperties: additionalProperties ?? false,
    }),
  };
}
