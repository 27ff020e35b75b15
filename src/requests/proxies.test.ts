import { describe, expect, it, test } from 'vitest';
import { isException, proxiesOf } from './proxies.ts';

const settings = {
  httpProxy: 'http://plain.example.com:3128',
  httpsProxy: 'http://me:p%40ss@proxy.example.com:3128/',
  proxyCredentials: undefined,
  noProxy: [] as readonly string[],
};

function proxyOriginFor(url: string, ...noProxy: string[]): string | undefined {
  return proxiesOf({ ...settings, noProxy })(new URL(url))?.origin;
}

const proxied = 'http://proxy.example.com:3128';

describe('proxiesOf', () => {
  it('a request uses the proxy for its scheme', () => {
    expect(proxyOriginFor('https://keystone.example.com')).toBe(proxied);
    expect(proxyOriginFor('http://keystone.example.com')).toBe('http://plain.example.com:3128');
  });

  it('a request uses no proxy when none is set', () => {
    const none = { ...settings, httpsProxy: undefined };
    expect(proxiesOf(none)(new URL('https://keystone.example.com'))).toBeUndefined();
  });

  it.each([
    'https://localhost:5000',
    'https://127.0.0.9',
    'https://[::1]:5000',
    'https://keystone.openstack.svc',
    'https://keystone.openstack.svc.:5000',
    'https://keystone.openstack.svc.cluster.local:5000',
  ])('a request to inside host %s uses no proxy', (url) => {
    expect(proxyOriginFor(url)).toBeUndefined();
  });

  it.each([
    ['example.com', 'https://example.com'],
    ['example.com', 'https://keystone.example.com'],
    ['Example.COM', 'https://keystone.EXAMPLE.com'],
    ['.example.com', 'https://keystone.example.com'],
    ['*.example.com', 'https://keystone.example.com'],
    ['keystone:5000', 'https://keystone:5000'],
    ['keystone:443', 'https://keystone'],
    ['10.0.0.0/8', 'https://10.1.2.3:5000'],
    ['10.1.2.3', 'https://10.1.2.3:5000'],
    ['2001:db8::/32', 'https://[2001:db8::1]:5000'],
    ['[2001:db8::1]:5000', 'https://[2001:db8::1]:5000'],
    ['*', 'https://anything.example.com'],
  ])('a request with NO_PROXY entry %s to %s uses no proxy', (entry, url) => {
    expect(proxyOriginFor(url, 'other.example.org', entry)).toBeUndefined();
  });

  it.each([
    ['.example.com', 'https://example.com'],
    ['example.com', 'https://notexample.com'],
    ['example.com', 'https://example.com.evil.org'],
    ['keystone:5000', 'https://keystone:5001'],
    ['10.0.0.0/8', 'https://11.0.0.1'],
    ['10.0.0.1', 'https://10.0.0.2'],
    ['2001:db8::1', 'https://[2001:db8::2]'],
    ['10.0.0.0/8', 'https://10.example.com'],
    ['::/0', 'https://10.0.0.1'],
    ['svc', 'https://example.com'],
  ])('a request with NO_PROXY entry %s to %s uses the proxy', (entry, url) => {
    expect(proxyOriginFor(url, entry)).toBe(proxied);
  });
});

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

test('proxy authorization comes from the proxy URL, else from the credentials', () => {
  const proxyOf = proxiesOf({ ...settings, proxyCredentials: 'you:word' });
  expect(proxyOf(new URL('https://a.example.com'))?.authorization).toBe(basic('me:p@ss'));
  expect(proxyOf(new URL('http://a.example.com'))?.authorization).toBe(basic('you:word'));
  const anonymous = proxiesOf(settings)(new URL('http://a.example.com'));
  expect(anonymous?.authorization).toBeUndefined();
});

test.each([
  ['10.0.0.0/8', true],
  ['::/0', true],
  ['.svc', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['example.com/8', false],
  ['a b', false],
])('isException(%s) returns %s', (entry, is) => {
  expect(isException(entry)).toBe(is);
});
