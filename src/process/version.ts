import { readFileSync } from 'node:fs';

/** What this build is. */
export interface Build {
  /** SemVer; one for all parts. */
  readonly version: string;
  /** Commit that it was made from, with `-dirty` when files had been changed since; `source` when it was not built. */
  readonly commit: string;
}

// Put into the bundle as it is made.
declare const MULTINIC_VERSION: string | undefined;
declare const MULTINIC_COMMIT: string | undefined;

/** What the bundle says of itself; run from source, what package.json says. */
export function thisBuild(): Build {
  if (typeof MULTINIC_VERSION === 'string' && typeof MULTINIC_COMMIT === 'string') {
    return { version: MULTINIC_VERSION, commit: MULTINIC_COMMIT };
  }
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return { version, commit: 'source' };
}
