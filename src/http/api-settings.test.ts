import { expect, it } from 'vitest';
import { readSettings } from '../process/settings.ts';
import { apiAccess, apiSettings } from './api-settings.ts';

const shared = readSettings(apiSettings, {
  env: { API_TOKENS_FILE: 'tokens', API_TLS_CERT: 'crt', API_TLS_KEY: 'key' },
  flags: {},
});
const loopback = { host: '127.0.0.1', port: 1 };
const anywhere = { host: '', port: 1 };
const none = { tokensFile: undefined, tlsCert: undefined, tlsKey: undefined, plainHttp: undefined };

it.each([
  ['uses the shared files elsewhere', anywhere, {}, 'tokens', 'crt', 'key', false],
  ['leaves loopback without TLS', loopback, {}, 'tokens', undefined, undefined, false],
  ['prefers deprecated files', loopback, { tlsCert: 'a', tlsKey: 'b' }, 'tokens', 'a', 'b', false],
  ['prefers deprecated tokens', anywhere, { tokensFile: 'own' }, 'own', 'crt', 'key', false],
  [
    'keeps deprecated plain HTTP',
    anywhere,
    { plainHttp: true },
    'tokens',
    undefined,
    undefined,
    true,
  ],
] as const)('an address %s', (_what, listen, own, tokensFile, certFile, keyFile, plainHttp) => {
  const access = apiAccess(shared, { name: 'inventory', listen, ...none, ...own });
  expect(access).toMatchObject({ tokensFile, tls: { listen, plainHttp } });
  expect([access.tls.certFile, access.tls.keyFile]).toEqual([certFile, keyFile]);
});
