import type { JsonObject } from '../objects/json.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { TypeRegistry } from '../resources/type-registry.ts';

const root = '/openapi/v3';

/** Answers the OpenAPI documents that `kubectl explain` and `kubectl apply` read; undefined for any other path. */
export function openApi(pathname: string, types: TypeRegistry): JsonObject | undefined {
  if (pathname === root) {
    const paths = [...new Set(types.all().map(pathOf))].map((path) => {
      // kubectl caches a document by its hash; every path has another one.
      return [path, { serverRelativeURL: `${root}/${path}?hash=${documentHash(path, types)}` }];
    });
    return { paths: Object.fromEntries(paths) as JsonObject };
  }
  if (!pathname.startsWith(`${root}/`)) return undefined;
  const path = pathname.slice(root.length + 1);
  const served = types.all().filter((type) => pathOf(type) === path);
  return served.length === 0 ? undefined : documentOf(served);
}

/** Definitions change what a group serves: the hash follows the resource kinds and their schemas. */
function documentHash(path: string, types: TypeRegistry): string {
  const served = types.all().filter((type) => pathOf(type) === path);
  return String(JSON.stringify(served.map(({ schema }) => schema)).length);
}

function pathOf(type: ResourceType): string {
  return `${type.group ? 'apis' : 'api'}/${apiVersionOf(type)}`;
}

function documentOf(types: readonly ResourceType[]): JsonObject {
  const info = { title: 'Kubernetes', version: 'embedded' };
  const schemas = types.map((type) => [
    schemaNameOf(type),
    { ...type.schema, 'x-kubernetes-group-version-kind': [kindOf(type)] },
  ]);
  return {
    openapi: '3.0.0',
    info,
    paths: Object.fromEntries(types.flatMap(pathsOf)),
    components: { schemas: Object.fromEntries(schemas) as JsonObject },
  };
}

function schemaNameOf({ group, version, kind }: ResourceType): string {
  const reversed = group.split('.').toReversed().join('.') || 'io.k8s.api.core';
  return `${reversed}.${version}.${kind}`;
}

function kindOf({ group, version, kind }: ResourceType): JsonObject {
  return { group, version, kind };
}

/** The operations of one kind, as far as kubectl reads them: whose they are, and whether they check unknown fields. */
function pathsOf(type: ResourceType): readonly (readonly [string, JsonObject])[] {
  const place = type.namespaced ? '/namespaces/{namespace}' : '';
  const list = `/${pathOf(type)}${place}/${type.plural}`;
  const gvk = { 'x-kubernetes-group-version-kind': kindOf(type) };
  const strict = { name: 'fieldValidation', in: 'query', schema: { type: 'string' } };
  const schema = { $ref: `#/components/schemas/${schemaNameOf(type)}` };
  const content = { 'application/json': { schema } };
  const responses = { 200: { description: 'OK', content } };
  const operation = (action: string) => ({ ...gvk, 'x-kubernetes-action': action, responses });
  const change = (action: string) => ({
    ...operation(action),
    parameters: [strict],
    requestBody: { content: { 'application/merge-patch+json': { schema } } },
  });
  return [
    [list, { get: operation('list'), post: change('post') }],
    [`${list}/{name}`, { get: operation('get'), put: change('put'), patch: change('patch') }],
  ];
}
