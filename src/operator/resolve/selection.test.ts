import { describe, expect, it } from 'vitest';
import { subnetSelector } from './resolve.ts';

describe('subnetSelector', () => {
  const all = { subnetIDs: ['b', ' a ', '', 'b'], subnetID: 'c', subnetName: 'net' };

  it('takes subnetIDs first, in their order, without blanks and repeats', () => {
    expect(subnetSelector(all)).toEqual({ kind: 'ids', ids: ['b', 'a'] });
  });

  it('takes subnetID when subnetIDs has nothing in it', () => {
    expect(subnetSelector({ ...all, subnetIDs: [' '] })).toEqual({ kind: 'ids', ids: ['c'] });
  });

  it('takes subnetName last', () => {
    expect(subnetSelector({ subnetID: ' ', subnetName: ' net ' })).toEqual({
      kind: 'name',
      name: 'net',
    });
  });

  it('says when nothing is selected', () => {
    expect(subnetSelector({ subnetName: '  ' })).toEqual({ kind: 'none' });
  });
});
