import type { JsonObject } from '../objects/json.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { TypeRegistry } from '../resources/type-registry.ts';

/** The version this server claims: its behaviour was compared with a real one of this release. */
const serverVersion = {
  major: '1',
  minor: '37',
  gitVersion: 'v1.37.1+embedded',
  platform: 'linux/amd64',
};

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** Answers of the paths that tell clients what is served; undefined for any other path. */
export function discovery(pathname: string, types: TypeRegistry): JsonObject | undefined {
  if (pathname === '/version') return serverVersion;
  if (pathname === '/api') return { kind: 'APIVersions', apiVersion: 'v1', versions: ['v1'] };
  const groups = apiGroups(types.all());
  if (pathname === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  const [, root, ...rest] = pathname.split('/');
  const wanted = rest.join('/');
  const one = root === 'apis' ? groups.find((group) => group['name'] === wanted) : undefined;
  return one ? { apiVersion: 'v1', ...one } : resourceList(wanted, types.all());
}

function apiGroups(types: readonly ResourceType[]): readonly JsonObject[] {
  const names = [...new Set(types.map((type) => type.group))].filter((name) => name !== '');
  return names.map((name) => {
    const versions = [...new Set(types.filter((type) => type.group === name).map(versionOf))].map(
      (version) => ({ groupVersion: `${name}/${version}`, version }),
    );
    return { kind: 'APIGroup', name, versions, preferredVersion: versions[0] ?? {} };
  });
}

function versionOf(type: ResourceType): string {
  return type.version;
}

function resourceList(apiVersion: string, all: readonly ResourceType[]): JsonObject | undefined {
  const types = all.filter((type) => apiVersionOf(type) === apiVersion);
  if (types.length === 0) return undefined;
  const resources = types.flatMap((type): JsonObject[] => {
    const { plural, singular, kind, namespaced, shortNames, categories } = type;
    const base = { kind, namespaced };
    const main = { ...base, name: plural, singularName: singular, verbs, shortNames, categories };
    const status = {
      ...base,
      name: `${plural}/status`,
      singularName: '',
      verbs: ['get', 'patch', 'update'],
    };
    return type.hasStatus ? [main, status] : [main];
  });
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources };
}
