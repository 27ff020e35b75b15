import { afterAll, beforeAll, expect, it } from 'vitest';
import { crdDefinitions } from '../../../src/api/crd/definition.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createKubeClient } from '../../../src/kube/client/http-client.ts';
import { namespaces } from '../../../src/kube/core-resources.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { nodeConfigs } from '../../chain/kinds.ts';
import { type ApiServer, startApiServer } from '../server.ts';

const path = '/apis/multinic.io/v1/namespaces/n/multinicnodeconfigs';
let server: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  server = await startApiServer({ crds: Object.values(crdDefinitions()) });
  client = createKubeClient(server.access, { clock: systemClock });
  await client.create(namespaces, { metadata: { name: 'n' } });
  const metadata = { namespace: 'n', name: 'worker-1' };
  const spec = { nodeName: 'worker-1', interfaces: [] };
  await client.create(nodeConfigs, { metadata, spec });
  const conditions = [
    {
      type: 'Drifted',
      status: 'False',
      reason: 'A',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
    {
      type: 'Ready',
      status: 'True',
      reason: 'B',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ];
  await client.patchStatus(nodeConfigs, metadata, { status: { state: 'Configured', conditions } });
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server.close();
});

async function call(route: string, init: RequestInit = {}) {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${await server.access.token?.()}`);
  const answer = await fetch(`${server.url}${route}`, { ...init, headers });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

it('lists are tables with the columns of the definition when the caller asks for tables', async () => {
  const { body } = await call(path, {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
  });
  const columns = body['columnDefinitions'] as readonly { readonly name: string }[];
  const [row] = body['rows'] as readonly { readonly cells: readonly unknown[] }[];
  const cells = Object.fromEntries(columns.map(({ name }, at) => [name, row?.cells[at]]));
  expect(cells).toMatchObject({
    Name: 'worker-1',
    Node: 'worker-1',
    Ready: 'True',
    State: 'Configured',
    Reason: 'B',
    Age: expect.stringMatching(/^\d+s$/) as unknown,
    Instance: null,
  });
});

it('OpenAPI names the schema of each served kind', async () => {
  const { body: index } = await call('/openapi/v3');
  const paths = index['paths'] as Record<string, { readonly serverRelativeURL: string }>;
  const { body } = await call(paths['apis/multinic.io/v1']?.serverRelativeURL ?? '');
  expect(body).toMatchObject({
    paths: { [`${path.replace('/n/', '/{namespace}/')}/{name}`]: { patch: {} } },
    components: { schemas: { 'io.multinic.v1.MultiNicNodeConfig': { properties: { spec: {} } } } },
  });
});

it.each([
  ['Strict', 400],
  ['Ignore', 201],
])('a create with an unknown field and validation %s is answered with %i', async (mode, status) => {
  const object = {
    apiVersion: 'multinic.io/v1',
    kind: 'MultiNicNodeConfig',
    metadata: { name: `with-${mode.toLowerCase()}` },
    spec: { nodeName: 'w', interfaces: [], nodeNaem: 'w' },
  };
  const answer = await call(`${path}?fieldValidation=${mode}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.body['message']).toContain('unknown field "spec.nodeNaem"');
});
