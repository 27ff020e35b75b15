import { describe, expect, it } from 'vitest';
import { labelValue, objectName } from './sanitize.ts';

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
  ])('makes of "%s" a DNS-1123 name', (nodeName, name) => {
    expect(objectName(nodeName)).toBe(name);
  });
});

describe('labelValue', () => {
  it.each([
    ['Worker-Node_01', 'worker-node_01'],
    ['  My Node!! ', 'my-node'],
    ['_lead', 'lead'],
    ['trail_', 'trail'],
    [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
    ['한글노드', undefined],
    ['___', undefined],
  ])('makes of "%s" a value that Kubernetes takes', (text, value) => {
    expect(labelValue(text)).toBe(value);
  });
});
