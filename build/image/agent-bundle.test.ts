import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundle } from '../bundler.ts';
import { agentBundle } from './agent-bundle.ts';
import { putFile } from './contents.ts';
import { bundledPackages } from './npm-packages.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-agent-bundle-'));
});

afterEach(() => rm(folder, { recursive: true }));

it("the agent's bundle has all modules that an agent loads: no HTTP server, no database, no metrics and no flags of parts", async () => {
  const all = join(folder, 'all');
  const whole = await bundle(all);
  const part = agentBundle(whole);
  const only = join(folder, 'only');
  await mkdir(only);
  for (const name of Object.keys(part.outputs).map((path) => basename(path))) {
    await putFile(only, `/${name}`, join(all, name));
  }
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [join(only, 'main.mjs'), 'agent', '--help']);
  expect(stdout).toContain('usage: multinic agent');
  const names = (await bundledPackages(root, part)).map(({ name }) => name);
  expect(names).toContain('zod');
  expect(names).toContain('yaml');
  expect(names.filter((name) => /fastify|mysql|undici|prom-client|commander/.test(name))).toEqual(
    [],
  );
  const everything = (await bundledPackages(root, whole)).map(({ name }) => name);
  expect(everything).toEqual(expect.arrayContaining(['fastify', 'mysql2', 'undici']));
});

it("the agent's bundle is refused when main no longer imports the agent", () => {
  const main = { bytes: 1, inputs: {}, imports: [], exports: [] };
  expect(() => agentBundle({ inputs: {}, outputs: { 'dist/main.mjs': main } })).toThrow(
    'main.mjs does not import src/agent/main-agent.ts',
  );
});
