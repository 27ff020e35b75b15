import { describe, expect, it } from 'vitest';
import type { MultiNicNodeConfig } from '../../api/multinicnodeconfig.ts';
import { annotations } from '../../api/names.ts';
import { refusalOf } from './fence.ts';

const live: MultiNicNodeConfig = {
  metadata: { name: 'n', uid: 'u1', generation: 4 },
  spec: { nodeName: 'n' },
};
const fenced = {
  ...live,
  metadata: { ...live.metadata, annotations: { [annotations.fenced]: 'true' } },
};
const leaving = {
  ...live,
  metadata: { ...live.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
};
const strict = { acceptUnfenced: false };

describe('refusalOf', () => {
  it.each([
    ['create, absent', undefined, null, undefined],
    ['create, exists', live, null, 'StaleBase'],
    ['same object', live, { uid: 'u1', generation: 4 }, undefined],
    ['older generation', live, { uid: 'u1', generation: 3 }, 'StaleBase'],
    ['another uid', live, { uid: 'u0', generation: 4 }, 'StaleBase'],
    ['gone meanwhile', undefined, { uid: 'u1', generation: 4 }, 'StaleBase'],
    ['being deleted', leaving, { uid: 'u1', generation: 4 }, 'Deleting'],
    ['being deleted, unfenced caller', leaving, undefined, 'Deleting'],
    ['unfenced caller, plain object', live, undefined, undefined],
    ['unfenced caller, fenced object', fenced, undefined, 'Fenced'],
  ])('refusalOf applies the fence: %s', (_what, object, base, code) => {
    expect(refusalOf(object, base, strict)?.code).toBe(code);
  });

  it('a stale base is refused with the uid and generation of the live object as args', () => {
    const refusal = refusalOf(live, { uid: 'u1', generation: 3 }, strict);
    expect(refusal?.args).toBe('uid=u1 generation=4');
    expect(refusalOf(undefined, { uid: 'u1', generation: 3 }, strict)?.args).toBeUndefined();
  });

  it('refusalOf allows unfenced callers with acceptUnfenced', () => {
    expect(refusalOf(fenced, undefined, { acceptUnfenced: true })).toBeUndefined();
  });
});
