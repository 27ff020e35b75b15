import { describe, expect, test } from 'vitest';
import { configMaps } from '../core-resources.ts';
import { isInvalid } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { defineResource } from '../resource.ts';
import { readObject, refused } from './wire.ts';

describe('refusals', () => {
  test('carry what a Status says', () => {
    const body = {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message: 'spec.color is wrong',
      details: { causes: [{ reason: 'X', field: 'spec.color', message: 'wrong' }] },
    };
    const error = refused({ status: 422, doing: 'POST /x', body });
    expect(error.message).toBe('POST /x: spec.color is wrong (422 Invalid)');
    expect(error.causes).toEqual([{ field: 'spec.color', message: 'wrong' }]);
    expect(isInvalid(error)).toBe(true);
  });

  test('of a stream have the code of the Status', () => {
    const body = { code: 410, reason: 'Expired', message: 'too old' };
    expect(refused({ status: 0, doing: 'watching', body })).toMatchObject({
      status: 410,
      reason: 'Expired',
    });
  });

  test.each([
    ['text', 'upstream is down', 'upstream is down'],
    ['nothing', '', 'no message'],
    ['something else', { error: 'x' }, 'no message'],
    ['a Status of another shape', { message: 7 }, 'no message'],
  ])('of a proxy that says %s are still told', (_, body, said) => {
    const error = refused({ status: 502, doing: 'GET /x', body });
    expect(error.message).toBe(`GET /x: ${said} (502 Http502)`);
  });

  test('ask for a pause by header, else by the details of the Status', () => {
    const body = { details: { retryAfterSeconds: 4 } };
    expect(refused({ status: 429, doing: 'GET', body }).retryAfterMs).toBe(4_000);
    expect(refused({ status: 429, doing: 'GET', body, retryAfterMs: 9 }).retryAfterMs).toBe(9);
    expect(refused({ status: 429, doing: 'GET', body: {} }).retryAfterMs).toBeUndefined();
  });

  test('quote only the beginning of a long page', () => {
    expect(
      refused({ status: 502, doing: 'GET', body: 'x'.repeat(9_000) }).message.length,
    ).toBeLessThan(300);
  });
});

describe('objects', () => {
  test('get the kind that items of a list lack', () => {
    expect(readObject(configMaps, { metadata: { name: 'a' } })).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
  });

  test('without a name are no objects', () => {
    expect(() => readObject(configMaps, { metadata: {} })).toThrow(
      /reading a ConfigMap.*metadata.name/s,
    );
    expect(() => readObject(configMaps, 'text')).toThrow(/reading a ConfigMap/);
  });

  test('pass the check of their resource', () => {
    const picky = defineResource<KubeObject>({
      ...configMaps,
      parse: () => {
        throw new Error('not mine');
      },
    });
    expect(() => readObject(picky, { metadata: { name: 'a' } })).toThrow('not mine');
  });
});
