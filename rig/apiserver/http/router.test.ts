import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Access, type ApiServer, startApiServer } from '../server.ts';
import { call } from './call-in-test.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'test.example.com';

function thingVersion(name: string, storage: boolean) {
  const text = { type: 'string' };
  const spec = { type: 'object', properties: { size: { type: 'integer' }, text } };
  return {
    name,
    served: true,
    storage,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  };
}
const thingCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', shortNames: ['th'] },
    versions: [thingVersion('v1', true), thingVersion('v1alpha1', false)],
  },
};

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer({ crds: [thingCrd] });
});
afterAll(() => server.close());

function post(path: string, body: object) {
  return call(server.access, path, { method: 'POST', body });
}

function thing(name: string, spec: object = {}, version = 'v1') {
  return { apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name }, spec };
}
const things = `/apis/${group}/v1/namespaces/default/things`;

describe('access', () => {
  it('refuses requests without a known token', async () => {
    const stranger: Access = { server: server.url, token: () => Promise.resolve('wrong') };
    expect(await call(stranger, '/api/v1/pods')).toMatchObject({
      status: 401,
      body: { kind: 'Status', reason: 'Unauthorized' },
    });
  });

  it('lets a ServiceAccount do exactly what its roles say, here and cluster-wide', async () => {
    await post(`${rbac}/namespaces/default/roles`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }],
    });
    const subjects = [{ kind: 'ServiceAccount', namespace: 'default', name: 'viola' }];
    await post(`${rbac}/namespaces/default/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'reader' },
      subjects,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    });
    const viola = server.accessAs('system:serviceaccount:default:viola');
    expect((await call(viola, '/api/v1/namespaces/default/configmaps')).status).toBe(200);
    const elsewhere = await call(viola, '/api/v1/namespaces/kube-system/configmaps');
    expect(elsewhere.body['message']).toBe(
      'configmaps is forbidden: User "system:serviceaccount:default:viola" cannot list resource "configmaps" in API group "" in the namespace "kube-system"',
    );
    const wide = await call(viola, '/api/v1/nodes/a');
    expect(wide.body['message']).toBe(
      'nodes "a" is forbidden: User "system:serviceaccount:default:viola" cannot get resource "nodes" in API group "" at the cluster scope',
    );
  });

  it('authorises a Namespace by the Roles in it', async () => {
    await post(`${rbac}/namespaces/kube-system/roles`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'identity' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }],
    });
    await post(`${rbac}/namespaces/kube-system/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'identity' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'viola' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'identity' },
    });
    const viola = server.accessAs('system:serviceaccount:default:viola');
    const statusOf = async (path: string) => (await call(viola, path)).status;
    expect(await statusOf('/api/v1/namespaces/kube-system')).toBe(200);
    expect(await statusOf('/api/v1/namespaces/default')).toBe(403);
    expect(await statusOf('/api/v1/namespaces')).toBe(403);
  });

  it('tells apart an object, its status, its name, and an apply that creates', async () => {
    await post(`${rbac}/clusterroles`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'status-writer' },
      rules: [
        { apiGroups: [group], resources: ['things'], verbs: ['patch'], resourceNames: ['mine'] },
        { apiGroups: [group], resources: ['things/status'], verbs: ['*'] },
      ],
    });
    await post(`${rbac}/clusterrolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'status-writer' },
      subjects: [{ kind: 'Group', name: 'writers' }],
      roleRef: { kind: 'ClusterRole', name: 'status-writer' },
    });
    await post(things, thing('other'));
    const writer = server.accessAs('w', ['writers']);
    const patch = (path: string, body: object, contentType = 'application/merge-patch+json') =>
      call(writer, `${things}/${path}`, { method: 'PATCH', body, contentType });
    expect((await patch('other/status', {})).status).toBe(200);
    expect((await patch('other', {})).status).toBe(403);
    const path = 'mine?fieldManager=w';
    const applied = await patch(path, thing('mine'), 'application/apply-patch+yaml');
    expect(applied.body['message']).toContain('cannot create resource "things"');
  });
});

describe('answers', () => {
  it.each([
    ['/apis/nobody.example.com/v1/things', 'GET', 404],
    ['/api/v1/namespaces/default/pods/a/log', 'GET', 404],
    ['/api/v1/namespaces/default/configmaps', 'PUT', 405],
    ['/api/v1/pods', 'POST', 405],
    ['/api/v1/namespaces/default/pods?fieldSelector=spec.hostNetwork%3Dtrue', 'GET', 400],
    ['/api/v1/pods?resourceVersion=999999', 'GET', 504],
  ])('%s %s is %i', async (path, method, status) => {
    expect((await call(server.access, path, { method })).status).toBe(status);
  });

  it('refuses bodies that are no JSON, no object, of another kind, or too large', async () => {
    const url = '/api/v1/namespaces/default/configmaps';
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    expect((await post(url, [])).status).toBe(400);
    expect((await post(url, { ...map, kind: 'Secret' })).status).toBe(400);
    expect((await post(url, { ...map, metadata: { name: 7 } })).status).toBe(400);
    expect((await post(url, { ...map, data: { a: 1 } })).status).toBe(400);
    const large = await post(url, { ...map, data: { a: 'x'.repeat(1_600_000) } });
    expect(large.body).toMatchObject({ code: 500, message: 'etcdserver: request is too large' });
    const larger = await post(url, { ...map, data: { a: 'x'.repeat(3_200_000) } });
    expect(larger.body).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
  });

  it('refuses patches of a type it does not know, and an apply without a manager', async () => {
    await post(things, thing('patched'));
    const patch = (contentType: string) =>
      call(server.access, `${things}/patched`, {
        method: 'PATCH',
        body: thing('patched'),
        contentType,
      });
    expect((await patch('application/strategic-merge-patch+json')).status).toBe(415);
    const anonymous = await patch('application/apply-patch+yaml');
    expect(anonymous.body['message']).toContain('fieldManager: Required value');
  });

  it('tells what is served', async () => {
    const { body } = await call(server.access, `/apis/${group}/v1alpha1`);
    const resources = body['resources'] as { name: string }[];
    expect(resources.map((one) => one.name)).toEqual(['things', 'things/status']);
    expect((await call(server.access, '/version')).body['gitVersion']).toMatch(/^v1\./);
    expect((await call(server.access, '/readyz')).body['text']).toBe('ok');
  });
});

describe('custom kinds', () => {
  it('are the same objects in every served version', async () => {
    await post(things, thing('both', { size: 1 }));
    const { body } = await call(server.access, `${things.replace('v1', 'v1alpha1')}/both`);
    expect(body).toMatchObject({ apiVersion: `${group}/v1alpha1`, spec: { size: 1 } });
    const old = thing('both', { size: 2 }, 'v1alpha1');
    const written = await call(server.access, `${things.replace('v1', 'v1alpha1')}/both`, {
      method: 'PUT',
      body: { ...old, metadata: body['metadata'] },
    });
    expect(written.body).toMatchObject({ metadata: { generation: 2 } });
    expect(server.objects(`things.${group}`).map((one) => one.apiVersion)).not.toContain(
      `${group}/v1alpha1`,
    );
  });

  it('need a resource version in a PUT', async () => {
    await post(things, thing('put'));
    const body = thing('put', { size: 3 });
    const answer = await call(server.access, `${things}/put`, { method: 'PUT', body });
    expect(answer.body['message']).toContain('metadata.resourceVersion: Invalid value: 0');
  });

  it('refuse an apply with a field that their schema does not declare', async () => {
    const answer = await call(server.access, `${things}/typed?fieldManager=t`, {
      method: 'PATCH',
      body: thing('typed', { colour: 'red' }),
      contentType: 'application/apply-patch+yaml',
    });
    expect(answer.body['message']).toBe(
      `failed to create typed patch object (/typed; ${group}/v1, Kind=Thing): .spec.colour: field not declared in schema`,
    );
  });

  it('end with their definition, objects first', async () => {
    const name = `gadgets.${group}`;
    const names = { plural: 'gadgets', kind: 'Gadget' };
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      ...thingCrd,
      metadata: { name },
      spec: { ...thingCrd.spec, names },
    });
    const gadgets = `/apis/${group}/v1/namespaces/default/gadgets`;
    const metadata = { name: 'held', finalizers: ['example.com/hold'] };
    await post(gadgets, { ...thing('held'), kind: 'Gadget', metadata });
    await call(server.access, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`, {
      method: 'DELETE',
    });
    const held = await call(server.access, `${gadgets}/held`);
    expect(held.body['metadata']).toHaveProperty('deletionTimestamp');
    await call(server.access, `${gadgets}/held`, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    while (server.objects('customresourcedefinitions.apiextensions.k8s.io').length > 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await call(server.access, gadgets)).status).toBe(404);
  });
});

describe('the audit log', () => {
  it('names verb, resource, object, user and outcome of every request', async () => {
    await call(server.access, `${things}/nothing`);
    expect(server.audit.at(-1)).toEqual({
      verb: 'get',
      group,
      resource: 'things',
      namespace: 'default',
      name: 'nothing',
      user: 'kubernetes-admin',
      status: 404,
    });
  });
});
