import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../objects/object.ts';
import { builtInTypes } from '../resources/built-in.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import { fieldSelector, labelSelector } from './selectors.ts';

function labelled(labels: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels } };
}

describe('labelSelector', () => {
  it.each([
    ['a=b', { a: 'b' }, true],
    ['a==b', { a: 'c' }, false],
    ['a!=b', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b, c)', { a: 'c' }, true],
    ['a in (b,c)', {}, false],
    ['a notin (b,c)', { a: 'd' }, true],
    ['a notin (b,c)', {}, true],
    ['multinic.io/node-name', { 'multinic.io/node-name': '' }, true],
    ['!a', { a: '' }, false],
    ['a=', { a: '' }, true],
    ['a in (b,c),x=y,!z', { a: 'b', x: 'y' }, true],
    ['a in (b,c),x=y,!z', { a: 'b', x: 'y', z: '1' }, false],
    ['', { a: 'b' }, true],
  ])('%s on %j is %s', (text, labels, expected) => {
    expect(labelSelector(text)(labelled(labels as Record<string, string>))).toBe(expected);
  });

  it('refuses what it cannot read', () => {
    expect(() => labelSelector('a = b = c')).toThrow('unable to parse requirement');
  });
});

describe('fieldSelector', () => {
  const pods = builtInTypes.find((type) => type.plural === 'pods') as ResourceType;
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'n' },
    spec: { nodeName: 'node-a' },
  };

  it.each([
    ['spec.nodeName=node-a', true],
    ['spec.nodeName=node-b', false],
    ['spec.nodeName!=', true],
    ['status.phase=', true],
    ['metadata.name=p,metadata.namespace=n', true],
  ])('%s is %s', (text, expected) => {
    expect(fieldSelector(text, pods)(pod)).toBe(expected);
  });

  it('refuses fields that the kind cannot be selected by', () => {
    expect(() => fieldSelector('spec.hostNetwork=true', pods)).toThrow(
      'field label not supported: spec.hostNetwork',
    );
  });
});
