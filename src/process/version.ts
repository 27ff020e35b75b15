import { readFileSync } from 'node:fs';

/** Build identity. */
export interface Build {
  /** SemVer; the same for all parts. */
  readonly version: string;
  /** Build commit, with `-dirty` after local changes; `source` when run from source. */
  readonly commit: string;
}

// Inserted by the bundler.
declare const MULTINIC_VERSION: string | undefined;
declare const MULTINIC_COMMIT: string | undefined;

/** Variable with the version from git; `bin/multinic` sets this variable in a checkout. */
const sourceVersion = 'MULTINIC_SOURCE_VERSION';

/** Returns the bundle's version and commit; from source, the version from `bin/multinic` or package.json. */
export function thisBuild(): Build {
  if (typeof MULTINIC_VERSION === 'string' && typeof MULTINIC_COMMIT === 'string') {
    return { version: MULTINIC_VERSION, commit: MULTINIC_COMMIT };
  }
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return { version: process.env[sourceVersion] || version, commit: 'source' };
}

/** Returns a User-Agent such as `multinic-operator/1.2.3`. */
export function userAgentOf(program: string): string {
  return `${program}/${thisBuild().version}`;
}
