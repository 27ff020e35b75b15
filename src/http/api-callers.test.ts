import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { admitApiCallers } from './api-callers.ts';

const admit = async (ip: string, headers: Readonly<Record<string, string>> = {}) =>
  admitApiCallers(
    undefined,
    'plan',
  )({
    ip,
    headers: { host: 'localhost:18081', ...headers },
  } as FastifyRequest);

it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
  'a port-forward from %s may do everything',
  async (ip) => {
    expect(await admit(ip)).toEqual({ name: 'this machine', providers: ['*'] });
  },
);

it.each([
  ['127.0.0.6', {}],
  ['127.0.0.1', { 'x-forwarded-proto': 'http' }],
  ['::1', { 'x-forwarded-for': '10.0.0.9' }],
])('a Pod behind a service mesh (%s, %j) needs a token', async (ip, headers) => {
  await expect(admit(ip, headers)).rejects.toMatchObject({ code: 'TokenRequired' });
});
