import type { Grant } from '../../session/access/grants.ts';
import type { Skipped } from '../report.ts';

/** Content of a file before redaction. */
interface Entry {
  readonly path: string;
  /** An object becomes JSON. */
  readonly content: string | object;
  /** Logs are left out first; the newest come first. */
  readonly isLog?: boolean;
}

/** Everything that was read, and what was not. */
export interface Collected {
  readonly entries: Entry[];
  readonly skipped: Skipped[];
  /** Names of nodes, networks and objects, for `--without addresses`. */
  readonly names: Set<string>;
}

export function nothingYet(): Collected {
  return { entries: [], skipped: [], names: new Set() };
}

/** Cluster, and folder of its files. */
export interface Place {
  readonly folder: string;
  /** Business cluster; undefined: the management cluster. */
  readonly provider: string | undefined;
  readonly grant: Grant;
}
