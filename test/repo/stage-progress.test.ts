import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import Progress from '../progress.ts';
import { root } from './tree.ts';

let tree: string;

/** A tree whose stage `check` runs two steps, the second one with files. */
beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'stage-progress-'));
  mkdirSync(join(tree, 'test'));
  cpSync(join(root, 'test/stage'), join(tree, 'test/stage'));
  const check = [
    '#!/bin/bash',
    "echo '== types'; echo '== unit tests'",
    'echo "3 of 12 files" >"$MULTINIC_TEST_PROGRESS"; sleep 2.5',
  ];
  writeFileSync(join(tree, 'test/check'), `${check.join('\n')}\n`);
  chmodSync(join(tree, 'test/check'), 0o755);
});

afterAll(() => rmSync(tree, { recursive: true }));

const line = String.raw`\d\d:\d\d:\d\d check: unit tests, 3 of 12 files, 0:0\d elapsed`;

it.each([
  [
    'refreshes one line on a terminal',
    'script',
    ['-qec', 'test/stage check', '/dev/null'],
    `\r\u001b\\[K${line}`,
  ],
  ['prints a line per interval elsewhere', 'test/stage', ['check'], `^${line}$`],
])('test/stage %s and names its log', (_, program, args, progress) => {
  const results = join(tree, 'results');
  const env = {
    ...process.env,
    MULTINIC_TEST_RESULTS: results,
    MULTINIC_TEST_PROGRESS_SECONDS: '1',
  };
  const { stdout, status } = spawnSync(program, args, { cwd: tree, env, encoding: 'utf8' });
  expect(stdout).toMatch(new RegExp(progress, 'm'));
  expect(stdout).toContain(`check: started; log: ${join(results, 'check.log')}`);
  expect(stdout).toMatch(/check: ok after \d s/);
  expect([status, readFileSync(join(results, 'check.log'), 'utf8')]).toEqual([
    0,
    '== types\n== unit tests\n',
  ]);
});

it('the reporter of test/vitest counts test files that have ended', () => {
  const path = join(tree, 'files');
  vi.stubEnv('MULTINIC_TEST_PROGRESS', path);
  const progress = new Progress();
  vi.unstubAllEnvs();
  progress.onTestRunStart([{}, {}]);
  progress.onTestModuleEnd();
  expect(readFileSync(path, 'utf8')).toBe('1 of 2 files');
});
