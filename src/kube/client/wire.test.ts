import { describe, expect, test } from 'vitest';
import { configMaps } from '../core-resources.ts';
import { isInvalid } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { defineResource } from '../resource.ts';
import { readObject, refused } from './wire.ts';

describe('refused', () => {
  test('refused copies message, reason and causes from a Status', () => {
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

  test('refused takes the Status code for a stream error', () => {
    const body = { code: 410, reason: 'Expired', message: 'too old' };
    expect(refused({ status: 0, doing: 'watching', body })).toMatchObject({
      status: 410,
      reason: 'Expired',
    });
  });

  test.each([
    ['text', 'upstream is down', 'upstream is down'],
    ['nothing', '', 'no message'],
    ['other JSON', { error: 'x' }, 'no message'],
    ['a Status of another shape', { message: 7 }, 'no message'],
  ])('refused reports a proxy answer with %s', (_, body, text) => {
    const error = refused({ status: 502, doing: 'GET /x', body });
    expect(error.message).toBe(`GET /x: ${text} (502 Http502)`);
  });

  test('refused reads the pause from the header, else from the Status details', () => {
    const body = { details: { retryAfterSeconds: 4 } };
    expect(refused({ status: 429, doing: 'GET', body }).retryAfterMs).toBe(4_000);
    expect(refused({ status: 429, doing: 'GET', body, retryAfterMs: 9 }).retryAfterMs).toBe(9);
    expect(refused({ status: 429, doing: 'GET', body: {} }).retryAfterMs).toBeUndefined();
  });

  test('refused truncates a long page', () => {
    expect(
      refused({ status: 502, doing: 'GET', body: 'x'.repeat(9_000) }).message.length,
    ).toBeLessThan(300);
  });
});

describe('readObject', () => {
  test('readObject adds the kind missing in list items', () => {
    expect(readObject(configMaps, { metadata: { name: 'a' } })).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
  });

  test('readObject refuses objects without a name', () => {
    expect(() => readObject(configMaps, { metadata: {} })).toThrow(
      /reading a ConfigMap.*metadata.name/s,
    );
    expect(() => readObject(configMaps, 'text')).toThrow(/reading a ConfigMap/);
  });

  test("readObject runs the resource's own check", () => {
    const picky = defineResource<KubeObject>({
      ...configMaps,
      parse: () => {
        throw new Error('not mine');
      },
    });
    expect(() => readObject(picky, { metadata: { name: 'a' } })).toThrow('not mine');
  });
});
