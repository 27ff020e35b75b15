import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { adviceOn, askRegistry } from './advisories.ts';

const advisory = {
  url: 'https://example.com/1',
  title: 'Bad things',
  severity: 'high',
  vulnerable_versions: '<1.2.3',
};

const snapshot = { date: '2026-01-01', source: 'test', advisories: { zod: [advisory] } };

it('the report names exactly the affected packages', () => {
  const packages = [
    { name: 'zod', version: '1.2.2' },
    { name: 'zod', version: '1.2.3' },
    { name: 'yaml', version: '1.0.0' },
  ];
  expect(adviceOn(packages, snapshot)).toEqual([
    'zod@1.2.2: high: Bad things https://example.com/1',
  ]);
});

it('a single registry request names each version once, and the answers have the fields for a later check', async () => {
  const bodies: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${body}`);
      response.statusCode = status;
      response.end(JSON.stringify({ zod: [{ ...advisory, id: 7, cvss: { score: 1 } }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm/`;
  const packages = [
    { name: 'zod', version: '1.2.2' },
    { name: 'zod', version: '1.2.3' },
    { name: '@a/b', version: '1.0.0' },
  ];
  expect(await askRegistry(registry, packages)).toEqual(snapshot.advisories);
  expect(bodies).toEqual([
    'POST /npm/-/npm/v1/security/advisories/bulk {"zod":["1.2.2","1.2.3"],"@a/b":["1.0.0"]}',
  ]);
  status = 405;
  await expect(askRegistry(registry, packages)).rejects.toThrow('answers 405');
  server.close();
});
