import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { writeFakeKubectl } from '../../../test/fixtures/cli/fake-kubectl.ts';

const script = `
  import { readdirSync } from 'node:fs';
  import { systemClock } from '${new URL('../../time/clock.ts', import.meta.url).pathname}';
  import { tunnels } from '${new URL('./kubectl.ts', import.meta.url).pathname}';
  const { signal } = new AbortController();
  await tunnels.startProxy({}, { clock: systemClock, ms: 30_000, signal });
  console.log(readdirSync(process.env.TMPDIR).length);
  process.exit();
`;

it('startProxy removes its folder when the process exits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-cli-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  const servers = { '': { url: 'http://127.0.0.1:1', token: '' } };
  const kubectl = await writeFakeKubectl(folder, { servers, operatorPort: 1 });
  const env = { ...process.env, TMPDIR: temporary, MULTINIC_KUBECTL: kubectl };
  const argv = ['--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env });
  expect(stdout.trim()).toBe('1');
  expect(await readdir(temporary)).toEqual([]);
});
