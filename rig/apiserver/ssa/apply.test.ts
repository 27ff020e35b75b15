import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../objects/json.ts';
import type { Schema } from '../schema/schema.ts';
import { type Applied, apply, type Managed, track } from './apply.ts';
import { conflictMessage } from './conflicts.ts';
import { toFieldsV1 } from './field-set.ts';
import type { Manager } from './managers.ts';
import { managedFields, ownersOf, sameOwners } from './managers.ts';
import { mergedOrder } from './merge.ts';
import { typeProblems } from './type-problems.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: {
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        finalizers: {
          type: 'array',
          items: { type: 'string' },
          'x-kubernetes-list-type': 'set',
        },
      },
    },
    spec: {
      type: 'object',
      properties: {
        node: { type: 'string' },
        vms: { type: 'array', items: { type: 'string' } },
        nics: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'integer' }, mtu: {}, mac: {} } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['id'],
        },
        match: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          additionalProperties: { type: 'string' },
        },
      },
    },
  },
};
const time = '2026-01-01T00:00:00Z';
const nothing: Managed = { content: {}, owners: new Map() };

function applier(name: string): Manager {
  return { name, operation: 'Apply', apiVersion: 'multinic.io/v1' };
}

function applied(live: Managed, name: string, config: JsonObject, force = false): Managed {
  const result = tryApply(live, name, config, force);
  if (result.kind === 'conflict') throw new Error(conflictMessage(result.conflicts));
  return result;
}

function tryApply(live: Managed, name: string, config: JsonObject, force = false): Applied {
  return apply(live, config, { manager: applier(name), schema, time }, force);
}

function fieldsOfOwner(managed: Managed, name: string): JsonObject | undefined {
  const owner = [...managed.owners.values()].find((one) => one.manager.name === name);
  return owner && toFieldsV1(owner.fields);
}

describe('apply', () => {
  it('merges members of two managers and remembers whose is what', () => {
    const one = applied(nothing, 'viola', { spec: { node: 'a', nics: [{ id: 0, mtu: 1500 }] } });
    const two = applied(one, 'human', { spec: { nics: [{ id: 0, mac: 'm' }, { id: 1 }] } });
    expect(two.content).toEqual({
      spec: { node: 'a', nics: [{ id: 0, mtu: 1500, mac: 'm' }, { id: 1 }] },
    });
    expect(fieldsOfOwner(two, 'viola')).toEqual({
      'f:spec': { 'f:node': {}, 'f:nics': { 'k:{"id":0}': { '.': {}, 'f:id': {}, 'f:mtu': {} } } },
    });
  });

  it('removes what the same manager applied before, but not what another one owns too', () => {
    const both = { metadata: { labels: { mine: '1', shared: '1' } }, spec: { node: 'a' } };
    const one = applied(nothing, 'viola', both);
    const two = applied(one, 'human', { metadata: { labels: { shared: '1' } } });
    const three = applied(two, 'viola', { spec: { node: 'a' } });
    expect(three.content).toEqual({ metadata: { labels: { shared: '1' } }, spec: { node: 'a' } });
  });

  it('removes a whole list entry with fields that nobody owns, and keeps metadata', () => {
    const live: Managed = applied(nothing, 'viola', {
      metadata: { labels: { a: '1' } },
      spec: { nics: [{ id: 0 }, { id: 1, mtu: 9 }] },
    });
    const defaulted: Managed = {
      ...live,
      content: {
        metadata: { labels: { a: '1' }, uid: 'u' },
        spec: {
          nics: [
            { id: 0, mac: 'default' },
            { id: 1, mtu: 9 },
          ],
        },
      },
    };
    const after = applied(defaulted, 'viola', { spec: { nics: [{ id: 1, mtu: 9 }] } });
    expect(after.content).toEqual({
      metadata: { uid: 'u' },
      spec: { nics: [{ id: 1, mtu: 9 }] },
    });
  });

  it('refuses to change a field of another manager and says whose it is', () => {
    const one = applied(nothing, 'viola', { spec: { node: 'a', nics: [{ id: 0, mtu: 1500 }] } });
    const config = { spec: { node: 'b' } };
    const result = tryApply(one, 'human', config);
    expect(result).toEqual({
      kind: 'conflict',
      conflicts: [{ owner: '"viola"', field: '.spec.node' }],
    });
    const forced = applied(one, 'human', config, true);
    expect(fieldsOfOwner(forced, 'viola')).toEqual({
      'f:spec': { 'f:nics': { 'k:{"id":0}': { '.': {}, 'f:id': {}, 'f:mtu': {} } } },
    });
    expect(tryApply(forced, 'viola', { spec: { node: 'a', nics: [{ id: 0, mtu: 9 }] } })).toEqual({
      kind: 'conflict',
      conflicts: [{ owner: '"human"', field: '.spec.node' }],
    });
  });

  it('names the entry of a list in a conflict, and lists several by owner', () => {
    const one = applied(nothing, 'viola', { spec: { node: 'a', nics: [{ id: 0, mtu: 1500 }] } });
    const result = tryApply(one, 'human', { spec: { node: 'b', nics: [{ id: 0, mtu: 9000 }] } });
    expect(result.kind === 'conflict' && conflictMessage(result.conflicts)).toBe(
      'Apply failed with 2 conflicts: conflicts with "viola":\n- .spec.node\n- .spec.nics[id=0].mtu',
    );
  });

  it('treats an atomic list or map as one field', () => {
    const one = applied(nothing, 'viola', { spec: { vms: ['a', 'b'], match: { x: '1' } } });
    expect(fieldsOfOwner(one, 'viola')).toEqual({ 'f:spec': { 'f:vms': {}, 'f:match': {} } });
    const result = tryApply(one, 'human', { spec: { vms: ['a', 'b', 'c'], match: { y: '1' } } });
    expect(result.kind === 'conflict' && result.conflicts.map(({ field }) => field)).toEqual([
      '.spec.match',
      '.spec.vms',
    ]);
  });

  it('joins the entries of a set', () => {
    const one = applied(nothing, 'viola', { metadata: { finalizers: ['x', 'y'] } });
    const two = applied(one, 'controller', { metadata: { finalizers: ['y', 'z'] } });
    expect(two.content).toEqual({ metadata: { finalizers: ['x', 'y', 'z'] } });
    const three = applied(two, 'viola', {});
    expect(three.content).toEqual({ metadata: { finalizers: ['y', 'z'] } });
  });

  it('knows an applier again when it moves to another version of the kind', () => {
    const one = applied(nothing, 'viola', { spec: { node: 'a', vms: ['x'] } });
    const manager: Manager = { ...applier('viola'), apiVersion: 'multinic.io/v1alpha1' };
    const moved = apply(one, { spec: { node: 'b' } }, { manager, schema, time }, false);
    expect(moved).toMatchObject({ kind: 'applied', content: { spec: { node: 'b' } } });
    expect(moved.kind === 'applied' && moved.owners.size).toBe(1);
  });

  it('gives a field back to nobody when its plain writer applies it away', () => {
    const update: Manager = { name: 'viola', operation: 'Update', apiVersion: 'multinic.io/v1' };
    const content = { spec: { node: 'a' } };
    const owners = track(nothing, content, { manager: update, schema, time });
    const result = tryApply({ content, owners }, 'viola', { spec: { node: 'b' } });
    expect(result.kind === 'conflict' && conflictMessage(result.conflicts)).toBe(
      'Apply failed with 1 conflict: conflict with "viola" using multinic.io/v1: .spec.node',
    );
  });
});

describe('typeProblems', () => {
  it.each([
    [{ spec: { nodes: 'a' } }, '.spec.nodes: field not declared in schema'],
    [{ spec: { node: 7 } }, '.spec.node: expected string, got &{7}'],
    [{ spec: { vms: 'a' } }, '.spec.vms: expected list, got &{a}'],
    [{ spec: [] }, '.spec: expected map, got &{[]}'],
    [
      { spec: { nics: [{ id: 'x' }] } },
      '.spec.nics[id="x"].id: expected numeric (int or float), got string',
    ],
    [{ spec: { nics: [{ id: 1 }, { id: 1 }] } }, '.spec.nics: duplicate entries for key [id=1]'],
    [
      { metadata: { finalizers: ['a', 'a'] } },
      '.metadata.finalizers: duplicate entries for key [="a"]',
    ],
    [
      { spec: { nics: [{ mtu: 1 }] } },
      '.spec.nics: element 0: associative list with keys has an element that omits all key fields ["id"] (and doesn\'t have default values for any key fields)',
    ],
  ])('of %j', (config, problem) => {
    expect(typeProblems(config as JsonObject, schema)).toEqual([problem]);
  });

  it('finds none in null, in unknown kinds of values and in what fits', () => {
    const spec = { node: null, nics: [{ id: 1, mtu: { any: 'thing' } }], match: { a: 'b' } };
    expect(typeProblems({ spec }, schema)).toEqual([]);
  });
});

describe('track', () => {
  it('moves ownership of changed fields to the writer and drops removed ones', () => {
    const one = applied(nothing, 'viola', { spec: { node: 'a', vms: ['x'] } });
    const manager: Manager = { name: 'kubectl', operation: 'Update', apiVersion: 'multinic.io/v1' };
    const content = { spec: { node: 'b' } };
    const owners = track(one, content, { manager, schema, time });
    const after = { content, owners };
    expect(fieldsOfOwner(after, 'viola')).toBeUndefined();
    expect(fieldsOfOwner(after, 'kubectl')).toEqual({ 'f:spec': { 'f:node': {} } });
  });
});

const configs = fc.record(
  {
    node: fc.constantFrom('a', 'b'),
    vms: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    nics: fc.uniqueArray(
      fc.record(
        { id: fc.nat({ max: 3 }), mtu: fc.nat({ max: 2 }), mac: fc.constantFrom('m', 'n') },
        { requiredKeys: ['id'] },
      ),
      // An empty keyed list is owned by nobody (structured-merge-diff counts entries only), so it is not idempotent.
      { selector: (nic) => nic.id, minLength: 1 },
    ),
  },
  { requiredKeys: [] },
);
const steps = fc.array(fc.tuple(fc.constantFrom('viola', 'human', 'controller'), configs));

describe('apply, for any history', () => {
  it('done twice changes nothing the second time, and reads back from managedFields', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let live = nothing;
        for (const [name, spec] of history) {
          live = applied(live, name, { spec }, true);
          const again = applied(live, name, { spec }, true);
          expect(again.content).toEqual(live.content);
          expect(sameOwners(again.owners, live.owners)).toBe(true);
        }
        expect(sameOwners(ownersOf(managedFields(live.owners)), live.owners)).toBe(true);
      }),
    );
  });

  it('never leaves a field that no manager wants once everybody applied nothing', () => {
    fc.assert(
      fc.property(steps, (history) => {
        const live = history.reduce(
          (state, [name, spec]) => applied(state, name, { spec }, true),
          nothing,
        );
        const names = new Set(history.map(([name]) => name));
        const end = [...names].reduce((state, name) => applied(state, name, {}), live);
        expect(end.owners.size).toBe(0);
        expect(end.content).toEqual({});
      }),
    );
  });
});

describe('mergedOrder', () => {
  it.each([
    ['ab', 'c', 'abc'],
    ['abc', 'ca', 'bca'],
    ['axb', 'ab', 'axb'],
    ['ab', 'ba', 'ba'],
    ['', 'ab', 'ab'],
    ['xay', 'ba', 'xbay'],
  ])('live %s with applied %s becomes %s', (live, config, merged) => {
    expect(mergedOrder(live.split(''), config.split('')).join('')).toBe(merged);
  });
});
