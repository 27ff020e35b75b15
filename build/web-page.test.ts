import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PageFile, readPageFiles } from '../src/dashboard/page/page-files.ts';
import { buildWebPage } from './web-page.ts';

let folder: string;
let files: readonly PageFile[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-web-'));
  await buildWebPage(folder);
  files = await readPageFiles(folder);
});

afterAll(() => rm(folder, { recursive: true }));

/** Largest page (bytes): a slow SSH tunnel loads it within seconds. */
const largestPage = 120 * 1_000;

it('the page takes at most 120 kB with gzip', () => {
  const bytes = files.reduce((sum, { body }) => sum + gzipSync(body).length, 0);
  expect(bytes).toBeLessThanOrEqual(largestPage);
});

it('the shell names all files, and holds no inline code or style', () => {
  const [index, ...others] = files.toSorted(
    (a, b) => Number(b.path === '/') - Number(a.path === '/'),
  );
  const html = index?.body.toString() ?? '';
  expect(others.filter(({ path }) => !html.includes(`"${path}"`))).toEqual([]);
  expect(html.match(/<style|style=|\son\w+=|<script(?![^>]* src=)/g)).toBeNull();
});

it('no file has a source map, a local path or a schema library', () => {
  const texts = files.map(({ body }) => body.toString()).join('\n');
  expect(texts).not.toMatch(/sourceMappingURL|node_modules|ZodError/);
  expect(texts).not.toContain(join(import.meta.dirname, '..'));
});
