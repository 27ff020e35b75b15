import { describe, expect, test } from 'vitest';
import {
  contrabassBase,
  keystoneBase,
  keystonePlace,
  neutronBase,
  novaBase,
  urlText,
} from './endpoint.ts';

describe('base URLs', () => {
  test.each([
    ['http://k:5000', 'http://k:5000/v3'],
    ['http://k:5000/', 'http://k:5000/v3'],
    ['http://k:5000/v3/', 'http://k:5000/v3'],
    ['http://k:5000/v2.0', 'http://k:5000/v3'],
    ['https://host/identity', 'https://host/identity/v3'],
  ])('keystoneBase appends /v3 to %s', (url, base) => expect(keystoneBase(url)).toBe(base));

  test.each(['http://k:80', ' HTTP://K/', 'http://k/v3/', 'http://k/v2.0'])(
    'keystonePlace maps %j to the same canonical URL',
    (url) => expect(keystonePlace(url)).toBe('http://k/v3'),
  );

  test('keystonePlace returns text unchanged when it is not a URL', () => {
    expect(keystonePlace('host:5000')).toBe('host:5000');
  });

  test.each([
    ['http://n:9696', 'http://n:9696'],
    ['http://n:9696/v2.0/', 'http://n:9696'],
    ['https://host/network/v2.0', 'https://host/network'],
  ])('neutronBase removes the version from %s', (url, base) => expect(neutronBase(url)).toBe(base));

  test.each([
    ['http://n:8774', 'http://n:8774/v2.1'],
    ['http://n:8774/v2.1/', 'http://n:8774/v2.1'],
    ['http://n:8774/v2.1/0123', 'http://n:8774/v2.1/0123'],
    ['http://n:8774/v2', 'http://n:8774/v2'],
    ['https://host/compute', 'https://host/compute/v2.1'],
  ])('novaBase keeps or appends the version: %s', (url, base) => expect(novaBase(url)).toBe(base));

  test('contrabassBase removes trailing slashes', () => {
    expect(contrabassBase(' https://c:8443// ')).toBe('https://c:8443');
  });

  test.each(['', 'host:5000', 'ftp://host', 'file:///etc'])(
    'keystoneBase refuses %j and quotes the value',
    (url) => {
      expect(() => keystoneBase(url)).toThrow(`keystone: "${url}" is not an http(s) URL`);
    },
  );

  test('a URL with a password is refused, and the error omits the password', () => {
    expect(() => novaBase('http://user:hidden@n:8774')).toThrow(/must not contain/);
    expect(() => novaBase('http://user:hidden@n:8774')).not.toThrow(/hidden/);
  });

  test.each([
    ['http://n:8774/v2', '"http://n:8774/v2"'],
    ['http://user:hidden@n:8774', '"…@n:8774"'],
    ['https:user:hidden@n', '"…@n"'],
    ['http://user:hid/den@hidden@n/', '"…@n/"'],
  ])('urlText shows %s as %s', (url, words) => expect(urlText(url)).toBe(words));
});
