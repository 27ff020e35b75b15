import { readFileSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { thisBuild, userAgentOf } from './version.ts';

const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { version } = JSON.parse(manifest) as { version: string };

afterEach(() => vi.unstubAllEnvs());

it('thisBuild returns the package.json version and commit "source" when run from source', () => {
  expect(thisBuild()).toEqual({ version, commit: 'source' });
});

it('thisBuild and the User-Agent have the version by bin/multinic when run from source', () => {
  vi.stubEnv('MULTINIC_SOURCE_VERSION', '1.2.3-dev.4.g0a1b2c3d');
  expect(thisBuild()).toEqual({ version: '1.2.3-dev.4.g0a1b2c3d', commit: 'source' });
  expect(userAgentOf('multinic-viola')).toBe('multinic-viola/1.2.3-dev.4.g0a1b2c3d');
});
