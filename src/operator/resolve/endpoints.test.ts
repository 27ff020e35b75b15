import { describe, expect, it } from 'vitest';
import { judgeEndpoint } from './endpoints.ts';

describe('judgeEndpoint', () => {
  it.each([
    ['https://viola.example.com', ['https://viola.example.com'], 'trusted'],
    ['https://viola.example.com/base/', ['https://viola.example.com'], 'trusted'],
    ['https://a.example.com', ['https://*.example.com'], 'trusted'],
    ['http://10.0.0.5:8080', ['http://10.0.0.5:8080'], 'trusted'],
    ['http://169.254.1.1', ['http://169.254.1.1'], 'trusted'],
    ['https://anywhere.example.org', [], 'open'],
    ['https://anywhere.example.org', ['*'], 'open'],
    ['http://127.0.0.1:9000', [], 'open'],
  ])('lets %s through with %j: %s', (url, allowed, verdict) => {
    expect(judgeEndpoint(url, allowed)).toBe(verdict);
  });

  it.each([
    ['https://evil.org', ['https://*.example.com'], 'is not allowed by the operator'],
    ['https://a.b.example.com', ['https://*.example.com'], 'is not allowed'],
    ['https://viola.example.com.evil.org', ['https://viola.example.com'], 'is not allowed'],
    ['https://viola.example.com@evil.org', [], 'must not carry a user name'],
    ['http://viola.example.com', ['https://viola.example.com'], 'is not allowed'],
    ['https://viola.example.com:8443', ['https://viola.example.com'], 'is not allowed'],
    ['https://violaxexample.com', ['https://viola.example.com'], 'is not allowed'],
    ['http://169.254.169.254/latest', [], 'link-local'],
    ['http://169.254.169.254/latest', ['*'], 'link-local'],
    ['http://[fe80::1]/', [], 'link-local'],
    ['ftp://viola.example.com', [], 'is not a URL'],
    ['viola', [], 'is not a URL'],
  ])('refuses %s with %j', (url, allowed, why) => {
    const verdict = judgeEndpoint(url, allowed);
    expect(typeof verdict === 'object' && verdict.denied).toContain(why);
  });
});
