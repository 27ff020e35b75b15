import { describe, expect, it } from 'vitest';
import { objectName } from './object-name.ts';

describe('objectName', () => {
  it.each([
    ['Worker-Node_01', 'worker-node-01'],
    ['  My Node!! ', 'my-node'],
    ['-.x.-', 'x'],
    ['_lead', 'lead'],
    ['trail_', 'trail'],
    ['node..a', 'node.a'],
    ['node.-a', 'node.a'],
    ['a'.repeat(260), 'a'.repeat(253)],
    ['한글노드', ''],
    ['___', ''],
  ])('objectName converts "%s" to a DNS-1123 name', (nodeName, name) => {
    expect(objectName(nodeName)).toBe(name);
  });
});
