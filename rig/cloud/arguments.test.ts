import { describe, expect, test } from 'vitest';
import { readArguments } from './arguments.ts';

describe('readArguments', () => {
  test('everything has a default', () => {
    expect(readArguments([])).toMatchObject({ port: 0, latencyMs: 0, contrabassOnly: false });
  });

  test.each([
    [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
    [['--latency=-1'], '--latency must be a whole number'],
    [['--encrypt-key', 'short'], '16, 24 or 32 bytes'],
    [['--contrabass-only'], 'needs --keystone URL'],
    [['--nonsense'], "'--nonsense'"],
  ])('%j is refused', (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
  });
});
