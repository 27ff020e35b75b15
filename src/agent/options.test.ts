import { describe, expect, test } from 'vitest';
import { parseOptions, UsageError } from './request.ts';

describe('the command line', () => {
  test('has a default for where the host is', () => {
    expect(parseOptions(['--request', 'a', '--result', 'b'])).toEqual({
      request: 'a',
      result: 'b',
      hostRoot: '/host',
      dryRun: false,
    });
  });

  test('of a dry run needs no result', () => {
    const options = parseOptions(['--request=a', '--host-root=/', '--dry-run']);
    expect(options).toEqual({ request: 'a', hostRoot: '/', dryRun: true });
  });

  test.each([
    [[], '--request FILE is missing'],
    [['--request', 'a'], '--result FILE is missing'],
    [['--nonsense'], 'unknown option `--nonsense`'],
    [['--dry-rum'], 'unknown option `--dry-rum`; did you mean `--dry-run`?'],
    [['a'], "Unexpected argument 'a'"],
  ])('%j is refused', (argv, words) => {
    expect(() => parseOptions(argv)).toThrow(words);
    expect(() => parseOptions(argv)).toThrow(UsageError);
  });

  test('may ask for help', () => {
    expect(parseOptions(['--help'])).toBeUndefined();
  });
});
