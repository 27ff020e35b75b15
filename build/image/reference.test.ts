import { describe, expect, it } from 'vitest';
import { namesOf } from './engine.ts';
import { isRepository, prefixIn } from './reference.ts';

describe('image name prefixes', () => {
  it.each([
    'localhost',
    'localhost:5000',
    'registry.example.com/multinic',
    'registry.example.com:5000/a/b-c',
    'Registry.Example.com/a__b',
  ])('%s is taken', (text) => expect(prefixIn(text)).toBe(text));

  it.each([
    '',
    'registry.example.com/',
    '/team',
    'a//b',
    'registry.example.com/Team',
    'a b',
    'https://a',
  ])('%j is refused', (text) =>
    expect(() => prefixIn(text)).toThrow(`--repository "${text}" must be`),
  );
});

it.each([
  'multinic',
  'localhost:5000/multinic',
  'registry.example.com/team/multinic',
  '10.0.0.1:5000/a.b/c',
])('%s is a valid image name', (text) => expect(isRepository(text)).toBe(true));

it.each([
  'multinic:1.2.3/',
  'registry.example.com/multinic/:1.2.3',
  'registry.example.com/Multinic:1.2.3',
  'https://registry.example.com/multinic:1.2.3',
  'registry.example.com:port/multinic:1',
  'multinic',
  'localhost:5000/multinic',
  'multinic::1',
  ':1',
  'multinic:1.2.3@sha256:0000',
  'multinic: 1',
  'a//b:1',
])('IMG=%s is refused before anything is built', (img) => {
  expect(() => namesOf(img)).toThrow(`IMG "${img}" must be [REGISTRY/]NAME:TAG`);
});
