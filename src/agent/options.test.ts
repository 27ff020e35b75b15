import { describe, expect, test } from 'vitest';
import { parseOptions, UsageError } from './request.ts';

describe('command line', () => {
  test('parseOptions uses /host as default host root', () => {
    expect(parseOptions(['--request', 'a', '--result', 'b'])).toEqual({
      request: 'a',
      result: 'b',
      hostRoot: '/host',
      dryRun: false,
    });
  });

  test('parseOptions needs no result file for a dry run', () => {
    const options = parseOptions(['--request=a', '--host-root=/', '--dry-run']);
    expect(options).toEqual({ request: 'a', hostRoot: '/', dryRun: true });
  });

  test.each([
    [[], '--request FILE is missing'],
    [['--request', 'a'], '--result FILE is missing'],
    [['--nonsense'], 'unknown option `--nonsense`'],
    [['--dry-rum'], 'unknown option `--dry-rum`; did you mean `--dry-run`?'],
    [['a'], "Unexpected argument 'a'"],
  ])('parseOptions refuses %j', (argv, words) => {
    expect(() => parseOptions(argv)).toThrow(words);
    expect(() => parseOptions(argv)).toThrow(UsageError);
  });

  test('parseOptions returns undefined for --help', () => {
    expect(parseOptions(['--help'])).toBeUndefined();
  });
});
