import type { Mutant } from '../mutant.ts';

const process = (file: string) => ['unit', `src/process/${file}`] as const;

export const processMutants: readonly Mutant[] = [
  {
    file: 'src/process/shutdown.ts',
    find: 'leaveAfter(leftoversMs, status);',
    replace: '',
    tests: process('shutdown.test.ts'),
  },
  {
    file: 'src/process/shutdown.ts',
    find: "process.on('uncaughtException', onStray);",
    replace: '',
    tests: process('shutdown.test.ts'),
  },
  {
    file: 'src/process/shutdown.ts',
    find: 'if (stray) return failedExit;',
    replace: '',
    tests: process('shutdown.test.ts'),
  },
  {
    file: 'src/process/shutdown.ts',
    find: "root.abort(new Error('the part has ended'));",
    replace: '',
    tests: process('shutdown.test.ts'),
  },
  {
    file: 'src/process/bounded.ts',
    find: 'await Promise.allSettled(workers);',
    replace: '',
    tests: process('bounded.test.ts'),
  },
  {
    file: 'src/process/bounded.ts',
    find: 'stop.signal.throwIfAborted();',
    replace: '',
    tests: process('bounded.test.ts'),
  },
  {
    file: 'src/process/settings.ts',
    find: ".replaceAll(/\\/\\/[^/@\\s]*@/g, '//…@')",
    replace: '',
    tests: process('settings.test.ts'),
  },
  {
    file: 'src/process/settings.ts',
    find: "'redacted' : withoutUser(value)",
    replace: "'redacted' : value",
    tests: process('settings.test.ts'),
  },
  {
    file: 'src/process/settings.ts',
    find: 'const value = secret || text === undefined ?',
    replace: 'const value = text === undefined ?',
    tests: process('settings.test.ts'),
  },
  {
    file: 'src/process/health.ts',
    find: 'report(new Map([...live, ...ready]))',
    replace: 'report(ready)',
    tests: process('health.test.ts'),
  },
  {
    file: 'src/process/metrics.ts',
    find: 'if (now === undefined) this.remove(labels);',
    replace: 'if (now === undefined) continue;',
    tests: process('metrics.test.ts'),
  },
  {
    file: 'src/process/setting-schemas.ts',
    find: 'value >= min && value <= max',
    replace: 'value >= min',
    tests: process('settings.test.ts'),
  },
  {
    file: 'src/process/shutdown.ts',
    find: 'if (root.signal.aborted) process.exit(forcedExit);',
    replace: '',
    tests: process('shutdown.test.ts'),
  },
  {
    file: 'src/process/settings.ts',
    find: "(env[candidate] ?? '') !== ''",
    replace: 'env[candidate] !== undefined',
    tests: process('settings.test.ts'),
  },
  {
    file: 'src/time/clock.ts',
    find: 'Math.min(Math.max(ms, 0), maxSleepMs)',
    replace: 'Math.max(ms, 0)',
    tests: ['unit', 'src/time/clock.test.ts'],
  },
];
