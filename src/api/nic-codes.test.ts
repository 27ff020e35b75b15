import { describe, expect, it } from 'vitest';
import { coded, nicCodes } from './nic-codes.ts';

describe('code of a NIC result', () => {
  it.each(nicCodes)('%s has at most 32 characters', (code) => {
    expect(code.length).toBeLessThanOrEqual(32);
  });

  it('has the values as pairs without spaces', () => {
    expect(coded('RuleToOtherLink', { priority: 9000, selector: 'not from all' })).toEqual({
      code: 'RuleToOtherLink',
      args: 'priority=9000 selector=not_from_all',
    });
  });

  it('leaves out values beyond 60 bytes', () => {
    const { args } = coded('ArpOff', { first: 'a'.repeat(50), second: 'bb', third: 'cc' });
    expect(args).toBe(`first=${'a'.repeat(50)}`);
  });
});
