import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../bundler.ts';
import { bundledPackages, type NpmPackage } from './npm-packages.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let metafile: Metafile;
let packages: readonly NpmPackage[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-packages-'));
  metafile = await bundle(folder);
  packages = await bundledPackages(root, metafile);
});

afterAll(() => rm(folder, { recursive: true }));

it('the list names the docs viewer in the served version', async () => {
  const shown = packages.find(({ name }) => name === 'swagger-ui-dist');
  const served = await readFile(join(folder, 'static/swagger-ui-bundle.js'), 'utf8');
  expect(served).toContain(`PACKAGE_VERSION:"${shown?.version}"`);
  expect(shown).toMatchObject({
    licence: 'Apache-2.0',
    purl: `pkg:npm/swagger-ui-dist@${shown?.version}`,
    licences: ['LICENSE'],
  });
});

it('the list does not name the docs viewer in a bundle without docs', async () => {
  const inputs = Object.entries(metafile.inputs).filter(([path]) => !path.includes('swagger-ui'));
  const others = await bundledPackages(root, { inputs: Object.fromEntries(inputs) });
  expect(others.map(({ name }) => name)).not.toContain('swagger-ui-dist');
  expect(others.length).toBeGreaterThan(50);
});

it('the bundle includes no minified file, which could hide bundled packages', () => {
  const hiding = Object.keys(metafile.inputs).filter((path) => /\.min\.[cm]?js$/.test(path));
  // Left out: see left-out.ts.
  expect(
    hiding.map((path) => metafile.inputs[path]?.bytes ?? 0).filter((bytes) => bytes > 300),
  ).toEqual([]);
});

it('every package has a license name, and a license text if the package has a text', () => {
  const unknown = packages.filter(({ licence }) => !/^[A-Z0-9][\w.-]*$/.test(licence ?? ''));
  expect(unknown.map(({ name }) => name)).toEqual([]);
  const textless = packages.filter(({ licences }) => licences.length === 0);
  expect(textless.map(({ name }) => name)).toEqual(['abstract-logging']);
});

it('a scope appears as in package URLs', () => {
  const purls = packages.map(({ purl }) => purl);
  expect(purls.filter((purl) => !/^pkg:npm\/(%40[^@/]+\/)?[^@/]+@\d[^@/]*$/.test(purl))).toEqual(
    [],
  );
});

it('every license file is copied, in every spelling', async () => {
  const at = join(folder, 'node_modules/outer/node_modules/@some/inner');
  await mkdir(at, { recursive: true });
  const terms = ['COPYING', 'LICENCE.md', 'LICENSE-MIT', 'NOTICE.txt', 'license'];
  for (const file of [...terms, 'index.js', 'relicense.js']) await writeFile(join(at, file), '');
  const manifest = { name: '@some/inner', version: '1.2.3', license: 'MIT' };
  await writeFile(join(at, 'package.json'), JSON.stringify(manifest));
  const path = 'node_modules/outer/node_modules/@some/inner/lib/index.js';
  const found = await bundledPackages(folder, { inputs: { [path]: { bytes: 1, imports: [] } } });
  expect(found).toMatchObject([{ name: '@some/inner', licences: terms, licence: 'MIT' }]);
});
