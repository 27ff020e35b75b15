import { describe, expect, it } from 'vitest';
import { createPerform } from './effects.ts';

describe('createPerform', () => {
  it('createPerform notifies before and after each write, and not after a failed write', async () => {
    const calls: string[] = [];
    const perform = createPerform<'write' | 'break'>((name, phase) =>
      calls.push(`${phase} ${name}`),
    );
    await perform('write', async () => calls.push('writing'));
    await expect(perform('break', () => Promise.reject(new Error('disk full')))).rejects.toThrow(
      'disk full',
    );
    expect(calls).toEqual(['before write', 'writing', 'after write', 'before break']);
  });
});
