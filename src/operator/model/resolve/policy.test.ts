import { describe, expect, it } from 'vitest';
import { deniedInCatalog, isOwnEndpoint, judgeEndpoint, mayDeliver } from './policy.ts';

describe('judgeEndpoint', () => {
  it.each([
    ['https://viola.example.com', ['https://viola.example.com'], 'trusted'],
    ['https://viola.example.com/base/', ['https://viola.example.com'], 'trusted'],
    ['https://a.example.com', ['https://*.example.com'], 'trusted'],
    ['http://10.0.0.5:8080', ['http://10.0.0.5:8080'], 'trusted'],
    ['http://169.254.1.1', ['http://169.254.1.1'], 'trusted'],
    ['https://anywhere.example.org', [], 'open'],
    ['https://anywhere.example.org', ['*'], 'open'],
    ['http://10.0.0.5:9000', [], 'open'],
    ['https://localhost', [], 'open'],
    ['http://127.0.0.1:9000', ['http://127.0.0.1:*'], 'trusted'],
    ['http://[::1]:9000', ['http://[::1]:*'], 'trusted'],
    ['https://viola.example.com', ['https://viola.example.com:443/'], 'trusted'],
    ['https://viola.example.com:443', ['https://viola.example.com'], 'trusted'],
    ['http://a.example.com', ['http://*.example.com:80'], 'trusted'],
    ['https://a.example.com', ['https://*.example.com:443'], 'trusted'],
    ['http://127.0.0.1', ['http://127.0.0.1:*'], 'trusted'],
    ['http://[2001:db8::1]', ['http://[2001:DB8:0::1]'], 'trusted'],
  ])('judgeEndpoint allows %s with %j: %s', (url, allowed, verdict) => {
    expect(judgeEndpoint(url, allowed)).toBe(verdict);
  });

  it.each([
    ['https://evil.org', ['https://*.example.com'], 'is not allowed by the operator'],
    ['https://a.b.example.com', ['https://*.example.com'], 'is not allowed'],
    ['https://viola.example.com.evil.org', ['https://viola.example.com'], 'is not allowed'],
    ['https://viola.example.com@evil.org', [], 'must not contain a user name'],
    ['https://:word@viola.example.com', ['https://viola.example.com'], 'must not contain'],
    ['http://viola.example.com', ['https://viola.example.com'], 'is not allowed'],
    ['https://viola.example.com:8443', ['https://viola.example.com'], 'is not allowed'],
    ['https://violaxexample.com', ['https://viola.example.com'], 'is not allowed'],
    ['http://169.254.169.254/latest', [], 'link-local'],
    ['http://169.254.169.254/latest', ['*'], 'link-local'],
    ['http://[fe80::1]/', [], 'link-local'],
    ['http://127.0.0.1:9000', [], "loopback address, and not in the operator's ALLOWED_ENDPOINTS"],
    ['http://127.0.0.1:9000', ['*'], 'loopback'],
    ['https://127.0.0.1:9000', ['http://127.0.0.1:*', '*'], 'loopback'],
    ['http://0x7f.1', [], 'loopback'],
    ['http://2130706433', [], 'loopback'],
    ['http://[::ffff:127.0.0.1]', [], 'loopback'],
    ['http://[fd00:ec2::254]', [], 'metadata'],
    ['ftp://viola.example.com', [], 'is not a URL'],
    ['viola', [], 'is not a URL'],
  ])('judgeEndpoint refuses %s with %j', (url, allowed, why) => {
    const verdict = judgeEndpoint(url, allowed);
    expect(typeof verdict === 'object' && verdict.denied).toContain(why);
  });
});

it.each([
  ['http://127.0.0.1:1', true],
  ['http://127.0.0.1:2', true],
  ['http://127.0.0.1:3', true],
  ['http://127.0.0.1:4', true],
  ['https://127.0.0.1:1', false],
  ['http://127.0.0.1:5', false],
  ['https://a.example.com/any', true],
  ['https://example.org', false],
])('isOwnEndpoint(%s) returns %s', (url, own) => {
  const settings = {
    contrabassEndpoint: 'http://127.0.0.1:1/base',
    violaEndpoint: 'http://127.0.0.1:2',
    openstackNeutronEndpoint: 'http://127.0.0.1:3',
    openstackNovaEndpoint: 'http://127.0.0.1:4/v2.1',
    allowedEndpoints: ['https://*.example.com', '*'],
  };
  expect(isOwnEndpoint(new URL(url), settings)).toBe(own);
});

describe('deniedInCatalog', () => {
  const unverified = { by: 'the CR says so', endpoints: ['https://a.test'] };
  it.each([
    ['https://b.test', { allowedEndpoints: ['https://a.test'] }, 'is not allowed by the operator'],
    ['https://b.test', { unverified }, 'INSECURE_TLS_ENDPOINTS, and the CR says so'],
    ['https://a.test', { unverified }, undefined],
    ['http://b.test', { unverified }, undefined],
    ['https://b.test', {}, undefined],
  ])('deniedInCatalog(%s) with %j returns %s', (url, limits, why) => {
    const denied = deniedInCatalog(url, limits);
    if (why === undefined) expect(denied).toBeUndefined();
    else expect(denied).toContain(why);
  });
});

it.each([
  ['team-a', 'prod-1', [], true],
  ['team-a', 'prod-1', ['team-a=prod-*'], true],
  ['team-a', 'prod', ['team-a=prod-*'], false],
  ['team-a', 'dev', ['team-a=prod-*', 'team-a=dev'], true],
  ['team-a', 'dev-2', ['team-a=dev'], false],
  ['team-b', 'dev', ['team-a=dev'], false],
  ['team-ab', 'dev', ['team-a=dev'], false],
  ['team-ab', 'dev', ['team-*=dev'], true],
  ['anybody', 'lab', ['*=lab'], true],
  ['team-a', 'biz.1', ['team-a=biz.1'], true],
  ['team-a', 'biz-1', ['team-a=biz.1'], false],
  ['team-a', 'a=b', ['team-a=a=b'], true],
  ['team-a', 'Prod', ['team-a=prod'], false],
])('mayDeliver(%s, %s) with %j returns %s', (namespace, cluster, namespaceClusters, may) => {
  expect(mayDeliver(namespace, cluster, { namespaceClusters })).toBe(may);
});
