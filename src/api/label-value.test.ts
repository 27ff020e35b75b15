import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValue } from './label-value.ts';

describe('labelValue', () => {
  it.each([
    ['Worker-Node_01', 'worker-node_01'],
    ['  My Node!! ', 'my-node'],
    ['-.x.-', 'x'],
    ['node..a', 'node..a'],
    ['한글노드', 'unknown'],
    ['', 'unknown'],
    ['a'.repeat(260), 'a'.repeat(63)],
  ])('labelValue converts %j as the legacy Viola does', (text, value) => {
    expect(labelValue(text)).toBe(value);
  });

  it.each([
    ['___', 'unknown'],
    ['_lead', 'lead'],
    ['trail_', 'trail'],
  ])('labelValue makes %j legal, unlike the legacy Viola', (text, value) => {
    expect(labelValue(text)).toBe(value);
  });

  it('labelValue returns a legal label value for any text and is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const value = labelValue(text);
        expect(value).toMatch(/^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/);
        expect(labelValue(value)).toBe(value);
      }),
    );
  });
});
