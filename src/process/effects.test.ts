import { describe, expect, it } from 'vitest';
import { createPerform } from './effects.ts';

describe('createPerform', () => {
  it('tells before and after a write, and no after when it failed', async () => {
    const told: string[] = [];
    const perform = createPerform<'write' | 'break'>((name, phase) =>
      told.push(`${phase} ${name}`),
    );
    await perform('write', async () => told.push('writing'));
    await expect(perform('break', () => Promise.reject(new Error('disk full')))).rejects.toThrow(
      'disk full',
    );
    expect(told).toEqual(['before write', 'writing', 'after write', 'before break']);
  });
});
