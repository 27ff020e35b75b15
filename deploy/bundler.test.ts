import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from './bundler.ts';

const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function bundled(source: string): Promise<unknown> {
  const entry = join(folder, 'entry.ts');
  await writeFile(entry, source);
  return bundle(join(folder, 'out'), entry);
}

describe('the bundle', () => {
  it('is not made when a package is imported dynamically', async () => {
    const made = bundled("const { parse } = await import('yaml'); console.log(parse('a: 1'));");
    await expect(made).rejects.toThrow("import('yaml') has no names in a bundle");
  });

  it('is not made when only the run would tell what is imported', async () => {
    const made = bundled('console.log(await import(process.argv[2] ?? ""));');
    await expect(made).rejects.toThrow('entry.ts:1: This "import" expression will not be bundled');
  });

  it('starts, and knows every part', async () => {
    const out = join(folder, 'product');
    await bundle(out);
    for (const part of ['operator', 'viola', 'controller']) {
      const { stdout } = await run(process.execPath, [join(out, 'main.mjs'), part, '--help']);
      expect(stdout).toContain(`Usage: multinic ${part}`);
    }
  });
});
