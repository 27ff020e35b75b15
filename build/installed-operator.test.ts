import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../rig/apiserver/server.ts';
import { prepareManagement } from '../rig/chain/clusters.ts';
import type { KubeClient } from '../src/kube/client/client.ts';
import { createKubeClient } from '../src/kube/client/http-client.ts';
import { systemClock as clock } from '../src/time/clock.ts';
import { namespaceOfLease } from './installed-operator.ts';

let api: ApiServer;
let client: KubeClient;

beforeAll(async () => {
  api = await startApiServer();
  client = createKubeClient(api.access, { clock });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await api.close();
});

it('an operator outside the cluster uses the lease of an installed operator', async () => {
  expect(await namespaceOfLease(client)).toBe('multinic-system');
  await prepareManagement(client);
  expect(await namespaceOfLease(client)).toBe('multinic-operator-system');
});
