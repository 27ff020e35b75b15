import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../kube/object.ts';
import { assess, type Memory } from './assess.ts';
import { pathsOf } from './field-sets.ts';
import { RepairLedger } from './ledger.ts';
import { deleted, lostFields, lostFieldsText } from './lost-fields.ts';

const container = 'k:{"name":"main"}';
const template = (fields: object) => ({ 'f:spec': { 'f:containers': { [container]: fields } } });
const own = {
  'f:metadata': { 'f:labels': { 'f:multinic.example.com/protected': {} } },
  ...template({ '.': {}, 'f:name': {}, 'f:image': {}, 'f:args': { 'v:"a"': {} } }),
};
const ownPaths = [
  '.metadata.labels["multinic.example.com/protected"]',
  '.spec.containers[name="main"]',
  '.spec.containers[name="main"].name',
  '.spec.containers[name="main"].image',
  '.spec.containers[name="main"].args["a"]',
];

function entry(manager: string, fieldsV1: object, more: object = {}) {
  return { manager, operation: 'Update', fieldsV1, ...more };
}

function object(managedFields: readonly object[], more: object = {}): KubeObject {
  return { metadata: { name: 'a', resourceVersion: '10', managedFields, ...more } };
}

const applied = (fields: object) => entry('lifecycle', fields, { operation: 'Apply' });

describe('pathsOf', () => {
  it('pathsOf returns fields, keyed list items and set items', () => {
    expect([...pathsOf(own)].toSorted()).toEqual(ownPaths.toSorted());
  });
});

describe('lostFields', () => {
  const rest = template({ '.': {}, 'f:name': {}, 'f:args': { 'v:"a"': {} } });
  const label = { 'f:metadata': { 'f:labels': { 'f:multinic.example.com/protected': {} } } };
  it.each<[string, readonly object[], object | undefined]>([
    ['nothing', [applied(own), entry('kubectl', template({ 'f:env': {} }))], undefined],
    [
      'nothing for a manager setting the same value',
      [applied(own), entry('argocd', own)],
      undefined,
    ],
    [
      'a field now owned by another manager',
      [
        applied({ ...label, ...rest }),
        entry('kubectl-set', template({ 'f:image': {} })),
        entry('hpa', { 'f:spec': { 'f:replicas': {} } }),
      ],
      { paths: ['.spec.containers[name="main"].image'], managers: ['kubectl-set'] },
    ],
    [
      'a field removed by a client, without naming the last writer',
      [
        applied(template({ '.': {}, 'f:name': {}, 'f:image': {}, 'f:args': { 'v:"a"': {} } })),
        entry('kube-controller-manager', { 'f:metadata': { 'f:annotations': {} } }),
      ],
      { paths: ['.metadata.labels["multinic.example.com/protected"]'], managers: [] },
    ],
    [
      'a whole item, once',
      [
        applied(label),
        entry('a', template({ '.': {}, 'f:name': {}, 'f:image': {} })),
        entry('b', { 'f:status': {} }, { subresource: 'status' }),
      ],
      { paths: ['.spec.containers[name="main"]'], managers: ['a'] },
    ],
  ])('lostFields returns %s', (_, managers, lost) => {
    expect(lostFields(new Set(ownPaths), object(managers), 'lifecycle')).toEqual(lost);
  });

  it('lostFields treats unreadable managedFields as empty', () => {
    const broken = object([{ manager: 1 }] as never);
    expect(lostFields(new Set(['.a']), broken, 'lifecycle')?.paths).toEqual(['.a']);
  });

  it.each([
    [deleted, 'deleted'],
    [{ paths: ['.a'], managers: ['x', 'y'] }, 'x, y changed .a'],
    [{ paths: ['.a'], managers: [] }, 'a client removed .a'],
    [
      { paths: ['1', '2', '3', '4', '5', '6', '7'], managers: ['x'] },
      'x changed 1, 2, 3, 4, 5 and 2 more fields',
    ],
  ])('lostFieldsText describes lost fields and managers', (lost, text) => {
    expect(lostFieldsText(lost)).toBe(text);
  });
});

describe('assess', () => {
  const memory: Memory = { hash: 'h', version: '10', owned: new Set(ownPaths) };
  const noted = { annotations: { 'multinic.io/applied': 'h' } };
  const whole = object([applied(own)], noted);
  const taken = object([applied(template({})), entry('x', own)], noted);
  it.each<[string, KubeObject | undefined, Memory | undefined, string]>([
    ['an object never observed', undefined, undefined, 'new'],
    ['an object observed before and missing now', undefined, memory, 'disturbed'],
    ['an untouched object', whole, memory, 'as-wanted'],
    ['an object applied by an earlier process', whole, undefined, 'unknown'],
    ['a foreign object', object([]), undefined, 'outdated'],
    ['different desired content', whole, { ...memory, hash: 'before' }, 'outdated'],
    [
      'different desired content for a deleted object',
      undefined,
      { ...memory, hash: 'before' },
      'outdated',
    ],
    ['a changed object', taken, memory, 'disturbed'],
    ['a changed object before our write', taken, { ...memory, version: '11' }, 'as-wanted'],
    ['an object applied by another lifecycle', object([applied(own)]), memory, 'outdated'],
  ])('assess classifies %s', (_, live, known, what) => {
    expect(assess(live, known, 'h').what).toBe(what);
  });
});

/** Returns the wait for a repair after these repairs of field `.a` on object `one`. */
function after(times: readonly number[], nowMs: number, path = '.a', of = 'one'): number {
  const ledger = new RepairLedger();
  for (const time of times) ledger.note('one', ['.a'], time);
  return ledger.waitMs(of, [path], nowMs);
}

describe('RepairLedger', () => {
  const minute = 60_000;

  it.each<[string, readonly number[], number, number]>([
    ['the fifth repair', [0, 1, 2, 3], 4, 0],
    ['the sixth', [0, 1, 2, 3, 4], 4, 10_000],
    ['the sixth after its pause', [0, 1, 2, 3, 4], 10_004, 0],
    ['the seventh', [0, 1, 2, 3, 4, 10_004], 10_004, 20_000],
    ['the eighth', [0, 1, 2, 3, 4, 10_004, 30_004], 30_004, 40_000],
    ['a sixth ten minutes after the first', [0, 1, 2, 3, 4], 10 * minute, 0],
    ['a repair after ten quiet minutes', [0, 1, 2, 3, 4, 10_004], 10_004 + 20_000 + 10 * minute, 0],
    [
      'a repair in a long contest',
      Array.from({ length: 40 }, (_, n) => n * 10 * minute + n),
      39 * 10 * minute + 39,
      0,
    ],
  ])('RepairLedger delays %s', (_, times, nowMs, waitMs) => {
    expect(after(times, nowMs)).toBe(waitMs);
  });

  it('RepairLedger never delays more than ten minutes', () => {
    const ledger = new RepairLedger();
    let now = 0;
    for (let repair = 0; repair < 30; repair++) {
      now += ledger.waitMs('one', ['.a'], now);
      ledger.note('one', ['.a'], now);
    }
    expect(ledger.waitMs('one', ['.a'], now)).toBe(10 * minute);
  });

  it('RepairLedger delays neither another field nor another object', () => {
    const times = [0, 1, 2, 3, 4];
    expect(after(times, 5, '.b')).toBe(0);
    expect(after(times, 5, '.a', 'two')).toBe(0);
  });
});
