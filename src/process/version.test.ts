import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { thisBuild } from './version.ts';

it('thisBuild returns the package.json version and commit "source" when run from source', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  expect(thisBuild()).toEqual({ version, commit: 'source' });
});
