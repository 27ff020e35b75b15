import { describe, expect, test } from 'vitest';
import { configMaps, jobs, nodes } from './core-resources.ts';
import { apiVersionOf, collectionPath, objectPath } from './resource.ts';

describe('resource paths', () => {
  test('the core group is below /api, all other groups below /apis', () => {
    expect(collectionPath(nodes)).toBe('/api/v1/nodes');
    expect(collectionPath(jobs, 'a')).toBe('/apis/batch/v1/namespaces/a/jobs');
    expect([apiVersionOf(nodes), apiVersionOf(jobs)]).toEqual(['v1', 'batch/v1']);
  });

  test('collectionPath without a namespace covers all namespaces', () => {
    expect(collectionPath(configMaps)).toBe('/api/v1/configmaps');
  });

  test('objectPath ignores the namespace for a cluster-scoped resource', () => {
    expect(objectPath(nodes, { namespace: 'a', name: 'n' })).toBe('/api/v1/nodes/n');
  });

  test('objectPath encodes slashes in names', () => {
    expect(objectPath(configMaps, { namespace: 'a', name: '../secrets/x' })).toBe(
      '/api/v1/namespaces/a/configmaps/..%2Fsecrets%2Fx',
    );
  });

  test('objectPath throws for a namespaced resource without namespace', () => {
    expect(() => objectPath(configMaps, { name: 'one' })).toThrow(/metadata.namespace is missing/);
  });

  test.each(['.', '..', ''])('%j is refused as a name and as a namespace', (name) => {
    expect(() => objectPath(nodes, { name })).toThrow(/is not a name/);
    expect(() => collectionPath(configMaps, name)).toThrow(/is not a name/);
  });
});
