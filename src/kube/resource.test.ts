import { describe, expect, test } from 'vitest';
import { configMaps, jobs, nodes } from './core-resources.ts';
import { apiVersionOf, collectionPath, objectPath } from './resource.ts';

describe('paths of resources', () => {
  test('the core group is below /api, others below /apis', () => {
    expect(collectionPath(nodes)).toBe('/api/v1/nodes');
    expect(collectionPath(jobs, 'a')).toBe('/apis/batch/v1/namespaces/a/jobs');
    expect([apiVersionOf(nodes), apiVersionOf(jobs)]).toEqual(['v1', 'batch/v1']);
  });

  test('without a namespace the collection is that of all namespaces', () => {
    expect(collectionPath(configMaps)).toBe('/api/v1/configmaps');
  });

  test('a namespace of a cluster-wide resource is ignored', () => {
    expect(objectPath(nodes, { namespace: 'a', name: 'n' })).toBe('/api/v1/nodes/n');
  });

  test('names cannot lead out of their place', () => {
    expect(objectPath(configMaps, { namespace: 'a', name: '../secrets/x' })).toBe(
      '/api/v1/namespaces/a/configmaps/..%2Fsecrets%2Fx',
    );
  });

  test('an object of a namespaced resource needs its namespace', () => {
    expect(() => objectPath(configMaps, { name: 'one' })).toThrow(/metadata.namespace is missing/);
  });

  test.each(['.', '..', ''])('%j is neither a name nor a namespace', (name) => {
    expect(() => objectPath(nodes, { name })).toThrow(/is not a name/);
    expect(() => collectionPath(configMaps, name)).toThrow(/is not a name/);
  });
});
