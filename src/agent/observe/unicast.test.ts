import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { unicastOf } from './unicast.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'multinic-bridge-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function fakeBridge(script: string): Promise<string> {
  const path = join(directory, 'bridge');
  await writeFile(path, `#!/usr/bin/env bash\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

test('what a link receives for is unicast, and of its own filter', async () => {
  const [child, other] = ['02:00:00:00:0c:01', 'fa:16:3e:00:00:01'];
  const entries = [
    { mac: child, flags: ['self'], state: 'permanent' },
    { mac: '33:33:00:00:00:01', flags: ['self'], state: 'permanent' },
    { mac: '01:00:5e:00:00:01', flags: ['self'], state: 'permanent' },
    { mac: '02:00:00:00:0c:02', flags: [], master: 'br0' },
    { mac: '02:00:00:00:0c:03', master: 'br0' },
    { mac: other, vlan: 7, flags: ['self'], state: 'permanent' },
  ];
  const command = await fakeBridge(`echo '${JSON.stringify(entries)}'`);
  expect(await unicastOf('ens5', command)).toEqual([child, other]);
});

test.each<[string, string, RegExp | undefined]>([
  ['a link that is gone', `echo 'Cannot find device "ens5"' >&2; exit 1`, undefined],
  [
    'a kernel that refuses',
    "echo 'RTNETLINK answers: Operation not permitted' >&2; exit 2",
    /not permitted/,
  ],
  ['an answer that is none', 'echo nothing', /JSON/],
])('%s', async (_, script, problem) => {
  const asked = unicastOf('ens5', await fakeBridge(script));
  if (problem) await expect(asked).rejects.toThrow(problem);
  else expect(await asked).toEqual([]);
});

test('a machine without bridge is told what to install', async () => {
  await expect(unicastOf('ens5', join(directory, 'none'))).rejects.toThrow('install iproute2');
});
