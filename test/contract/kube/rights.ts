import { describe, expect, test } from 'vitest';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { configMaps, secrets } from '../../../src/kube/core-resources.ts';
import { isForbidden } from '../../../src/kube/errors.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { defineResource } from '../../../src/kube/resource.ts';
import type { Action } from '../../../src/kube/rights.ts';
import { eventually } from './eventually.ts';
import { refusalOf } from './refusal.ts';
import type { KubeFixture } from './world.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true } as const;

interface Role extends KubeObject {
  readonly rules: readonly Readonly<Record<string, readonly string[]>>[];
}
interface RoleBinding extends KubeObject {
  readonly subjects: readonly Readonly<Record<string, string>>[];
  readonly roleRef: Readonly<Record<string, string>>;
}
const roles = defineResource<Role>({ ...rbac, plural: 'roles', kind: 'Role' });
const bindings = defineResource<RoleBinding>({
  ...rbac,
  plural: 'rolebindings',
  kind: 'RoleBinding',
});

/** A new namespace, and an identity bound to a Role with these rules. */
async function granted(
  { client, namespace, name, server, connect }: KubeFixture,
  rules: Role['rules'],
): Promise<{ readonly inside: string; readonly client: KubeClient }> {
  const inside = await namespace();
  const user = name('granted');
  const metadata = { namespace: inside, name: 'granted' };
  await client.create(roles, { metadata, rules });
  await client.create(bindings, {
    metadata,
    subjects: [{ kind: 'User', apiGroup: rbac.group, name: user }],
    roleRef: { kind: 'Role', apiGroup: rbac.group, name: 'granted' },
  });
  const theirs = connect(await server.accessAs(user));
  const [{ apiGroups: [group = ''] = [], resources: [resource = ''] = [] } = {}] = rules;
  // A real server reads roles from a cache.
  await eventually('the role to hold', async () => {
    const [verb, known] = [rules[0]?.['verbs']?.[0] as Action['verb'], rules[0]?.['resourceNames']];
    const action = { verb, group, resource, namespace: inside };
    return (await theirs.mayI(known?.[0] ? { ...action, name: known[0] } : action)) === 'yes';
  });
  return { inside, client: theirs };
}

export function rightsContract(world: () => KubeFixture): void {
  describe('rights', () => {
    test('G01 every known identity may request access reviews, and is denied without a grant', async () => {
      const { connect, server, client } = world();
      const action = { verb: 'list', group: '', resource: 'configmaps' } as const;
      expect(await client.mayI(action)).toBe('yes');
      expect(await connect(await server.accessAs('nobody')).mayI(action)).toBe('no');
    });

    test('G02 a right is limited to verb, subresource, namespace and group', async () => {
      const { client, inside } = await granted(world(), [
        { apiGroups: ['example.com'], resources: ['things', 'things/status'], verbs: ['get'] },
      ]);
      const things = { verb: 'get', group: 'example.com', resource: 'things' } as const;
      const here = { ...things, namespace: inside };
      // For an unserved kind: access reviews do not need an existing resource.
      expect(await client.mayI(here)).toBe('yes');
      expect(await client.mayI({ ...here, name: 'any' })).toBe('yes');
      expect(await client.mayI({ ...here, resource: 'things/status' })).toBe('yes');
      expect(await client.mayI({ ...here, resource: 'things/scale' })).toBe('no');
      expect(await client.mayI({ ...here, verb: 'list' })).toBe('no');
      expect(await client.mayI({ ...here, group: '' })).toBe('no');
      expect(await client.mayI({ ...here, namespace: 'default' })).toBe('no');
      expect(await client.mayI(things)).toBe('no');
    });

    test('G03 a right to objects by name does not hold without a name', async () => {
      const { client, inside: namespace } = await granted(world(), [
        { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'], resourceNames: ['a'] },
      ]);
      const secretsHere = { group: '', resource: 'secrets', namespace };
      expect(await client.mayI({ ...secretsHere, verb: 'get', name: 'a' })).toBe('yes');
      expect(await client.mayI({ ...secretsHere, verb: 'get', name: 'b' })).toBe('no');
      expect(await client.mayI({ ...secretsHere, verb: 'list' })).toBe('no');
    });

    test('G04 an apply may create an object by a right to that name, a create may not', async () => {
      const { client, inside: namespace } = await granted(world(), [
        {
          apiGroups: [''],
          resources: ['secrets'],
          verbs: ['get', 'create', 'patch'],
          resourceNames: ['ours'],
        },
      ]);
      const manager = { fieldManager: 'ours' };
      const create = client.create(secrets, { metadata: { namespace, name: 'ours' } });
      expect(isForbidden(await refusalOf(create))).toBe(true);
      const made = await client.apply(secrets, { metadata: { namespace, name: 'ours' } }, manager);
      expect(made.metadata.uid).not.toBe('');
      const other = { metadata: { namespace, name: 'theirs' } };
      expect(isForbidden(await refusalOf(client.apply(secrets, other, manager)))).toBe(true);
    });

    test('G06 a right by name allows to list and watch only this object', async () => {
      const { client, inside: namespace } = await granted(world(), [
        {
          apiGroups: [''],
          resources: ['configmaps'],
          verbs: ['list', 'watch'],
          resourceNames: ['ours'],
        },
      ]);
      const ours = { namespace, fieldSelector: 'metadata.name=ours' };
      const { items, resourceVersion } = await client.list(configMaps, ours);
      expect(items).toEqual([]);
      const watch = { ...ours, resourceVersion, timeoutSeconds: 1 };
      for await (const event of client.watch(configMaps, watch))
        expect(event.type).toBe('BOOKMARK');
      const others = { namespace, fieldSelector: 'metadata.name=theirs' };
      expect(isForbidden(await refusalOf(client.list(configMaps, others)))).toBe(true);
      expect(isForbidden(await refusalOf(client.list(configMaps, { namespace })))).toBe(true);
    });

    test('G05 an apply may not create without the right to', async () => {
      const { client, inside: namespace } = await granted(world(), [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'], resourceNames: ['ours'] },
      ]);
      const object = { metadata: { namespace, name: 'ours' } };
      const refused = await refusalOf(client.apply(configMaps, object, { fieldManager: 'ours' }));
      expect(isForbidden(refused)).toBe(true);
    });
  });
}
