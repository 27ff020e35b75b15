import { describe, expect, it } from 'vitest';
import { createLogger, secretKeys } from './log.ts';

describe('createLogger', () => {
  it.each(secretKeys)('createLogger redacts the value for key %s at all three levels', (key) => {
    const lines: string[] = [];
    const log = createLogger({
      part: 'test',
      level: 'info',
      destination: { write: (line) => void lines.push(line) },
    });
    log.info({ [key]: 'hunter2', cloud: { [key]: 'hunter2', deep: { [key]: 'hunter2' } } }, 'told');
    expect(lines.join('')).toContain('[redacted]');
    expect(lines.join('')).not.toContain('hunter2');
  });
});
