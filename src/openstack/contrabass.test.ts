import { describe, expect, test } from 'vitest';
import { answerOf, createFakeCaller } from '../requests/fake-caller.ts';
import { fetchProvider } from './contrabass.ts';

const signal = new AbortController().signal;
const encryptKey = '0123456789abcdef';
// "sixteen-bytes-ok"
const password = 'AAECAwQFBgcICQoLDA0OD+QD39ILToJqvTNMPfec1H3Ag6+uLFq/rlVlBFa5FMZu';
const attributes = { adminId: 'admin', adminPw: password, domain: 'default' };

function epoch(): Date {
  return new Date(0);
}

function fetchWith(status: number, body: unknown, providerId = 'os-1') {
  const caller = createFakeCaller(() => answerOf(status, body));
  const request = {
    endpoint: 'https://contrabass:8443/',
    providerId,
    encryptKey,
    timeoutMs: 10_000,
    tls: {},
  };
  return { caller, provider: fetchProvider(request, { caller, now: epoch }, signal) };
}

describe('fetchProvider', () => {
  test('fetchProvider requests the legacy route with the provider id escaped', async () => {
    const { caller, provider } = fetchWith(
      200,
      { data: { url: 'http://k', attributes } },
      'a/../b',
    );
    await provider;
    expect(caller.sent[0]?.url.href).toBe(
      'https://contrabass:8443/v1/contrabass/admin/infra/provider/a%2F..%2Fb',
    );
  });

  test('fetchProvider returns the account and omits absent fields', async () => {
    const { provider } = fetchWith(200, {
      returnCode: '200',
      data: { url: 'http://k', attributes },
    });
    expect(await provider).toEqual({
      keystoneUrl: 'http://k',
      username: 'admin',
      password: 'sixteen-bytes-ok',
      domainName: 'default',
    });
  });

  test('fetchProvider returns endpoints and RabbitMQ access when present', async () => {
    const full = {
      ...attributes,
      neutronUrl: 'http://n',
      novaUrl: ' http://c ',
      rabbitMQId: 'openstack',
      rabbitMQPw: password,
      rabbitMQUrls: ['10.0.0.1:5672'],
    };
    const { provider } = fetchWith(200, { data: { url: 'http://k', attributes: full } });
    expect(await provider).toMatchObject({
      neutronUrl: 'http://n',
      novaUrl: 'http://c',
      rabbit: { username: 'openstack', password: 'sixteen-bytes-ok', hosts: ['10.0.0.1:5672'] },
    });
  });

  test('an undecryptable RabbitMQ password is omitted, and the provider stays usable', async () => {
    const broken = { ...attributes, rabbitMQId: 'openstack', rabbitMQPw: 'broken' };
    const { provider } = fetchWith(200, { data: { url: 'http://k', attributes: broken } });
    expect((await provider).rabbit).toEqual({ username: 'openstack', hosts: [] });
  });

  test('an undecryptable adminPw is a badCredential error naming field and provider', async () => {
    const wrong = { ...attributes, adminPw: Buffer.alloc(32).toString('base64') };
    const { provider } = fetchWith(200, { data: { url: 'http://k', attributes: wrong } });
    await expect(provider).rejects.toMatchObject({
      kind: 'badCredential',
      message:
        'contrabass: adminPw of provider "os-1": the encrypted password does not fit the encrypt key',
    });
  });

  test.each([
    [404, { returnCode: '404' }, 'notFound'],
    [403, {}, 'forbidden'],
    [200, { returnCode: '500', returnMessage: 'FAILED' }, 'badAnswer'],
    [200, { returnCode: 500, data: { url: 'http://k', attributes } }, 'badAnswer'],
    [200, { data: { url: 'http://k', attributes: { ...attributes, adminPw: '' } } }, 'badAnswer'],
  ])('fetchProvider maps status %i with body %j to error kind %s', async (status, body, kind) => {
    await expect(fetchWith(status, body).provider).rejects.toMatchObject({
      service: 'contrabass',
      kind,
    });
  });

  test('fetchProvider reports the returnCode and returnMessage from a 200 answer', async () => {
    const body = { returnCode: '404', returnMessage: 'PROVIDER_NOT_FOUND', data: null };
    await expect(fetchWith(200, body).provider).rejects.toMatchObject({
      kind: 'notFound',
      message: 'contrabass: returnCode 404 (PROVIDER_NOT_FOUND)',
    });
  });

  test.each([
    ['10.0.0.1:5672, 10.0.0.2:5672', ['10.0.0.1:5672', '10.0.0.2:5672']],
    [{ host: '10.0.0.1' }, []],
  ])('fetchProvider accepts rabbitMQUrls written as %j', async (rabbitMQUrls, hosts) => {
    const data = { url: 'http://k', attributes: { ...attributes, rabbitMQId: 'r', rabbitMQUrls } };
    expect((await fetchWith(200, { data }).provider).rabbit).toEqual({ username: 'r', hosts });
  });

  test('fetchProvider limits the response body to 1 MiB', async () => {
    const { caller, provider } = fetchWith(200, { data: { url: 'http://k', attributes } });
    await provider;
    expect(caller.sent[0]?.bodyLimitBytes).toBe(1024 * 1024);
  });
});
