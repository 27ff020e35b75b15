import { describe, expect, it } from 'vitest';
import { subnetSelector } from './resolve.ts';

describe('subnetSelector', () => {
  const all = { subnetIDs: ['b', ' a ', '', 'b'], subnetID: 'c', subnetName: 'net' };

  it('subnetSelector prefers subnetIDs, in order, without blanks and duplicates', () => {
    expect(subnetSelector(all)).toEqual({ kind: 'ids', ids: ['b', 'a'] });
  });

  it('subnetSelector takes subnetID when subnetIDs has only blanks', () => {
    expect(subnetSelector({ ...all, subnetIDs: [' '] })).toEqual({ kind: 'ids', ids: ['c'] });
  });

  it('subnetSelector takes subnetName without ids', () => {
    expect(subnetSelector({ subnetID: ' ', subnetName: ' net ' })).toEqual({
      kind: 'name',
      name: 'net',
    });
  });

  it('subnetSelector returns none without a selection', () => {
    expect(subnetSelector({ subnetName: '  ' })).toEqual({ kind: 'none' });
  });
});
