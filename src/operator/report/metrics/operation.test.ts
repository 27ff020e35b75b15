import { expect, it } from 'vitest';
import { operationOf } from './operation.ts';

it.each([
  ['GET', '/networking/v2.0/ports', 'ports.list'],
  ['GET', '/v2.0/ports/5f3c2b1a-0000-4000-8000-000000000001', 'ports.get'],
  ['GET', '/v2.0/subnets/ports', 'ports.list'],
  ['GET', '/v2.1/servers/detail', 'servers.list'],
  ['GET', '/compute/v2.1/servers/5f3c2b1a', 'servers.get'],
  ['GET', '/v2.1/servers/5f3c2b1a/tags', 'tags.list'],
  ['POST', '/identity/v3/auth/tokens', 'tokens.create'],
  ['GET', '/v1/contrabass/admin/infra/provider/cloud-1', 'provider.get'],
  ['GET', '/', 'other'],
])('request %s %s counts as %s', (method, path, operation) => {
  const url = new URL(`https://cloud.test${path}?device_id=x`);
  expect(operationOf({ method, url })).toBe(operation);
});
