import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePorts } from './free-ports.ts';

// Ports that no server of this machine takes by chance: below those of any part.
const range = [25_990, 25_992] as const;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'multinic-free-ports-'));
});

afterEach(() => rm(directory, { recursive: true }));

it.each([
  ['has', process.ppid, 1, [25_991]],
  ['had when it ended', spawnSync('true').pid, 2, [25_990, 25_991]],
])('a port that another process %s', async (_what, pid, count, wanted) => {
  await writeFile(join(directory, '25990'), `${pid}`);
  const ports = await freePorts(count, { range, directory });
  expect(new Set(ports)).toEqual(new Set(wanted));
});
