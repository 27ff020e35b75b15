import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyOf, refOf } from './object.ts';

describe('object keys', () => {
  test('keyOf returns the same key for an object and its reference', () => {
    expect(keyOf({ metadata: { namespace: 'ns', name: 'one', uid: 'u' } })).toBe('ns/one');
    expect(keyOf({ namespace: 'ns', name: 'one' })).toBe('ns/one');
    expect(keyOf({ name: 'node-1' })).toBe('node-1');
  });

  test('refOf returns the reference for a key', () => {
    const name = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(name, fc.option(name, { nil: undefined }), (of, namespace) => {
        const ref = namespace === undefined ? { name: of } : { namespace, name: of };
        expect(refOf(keyOf(ref))).toEqual(ref);
      }),
    );
  });
});
