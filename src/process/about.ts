import type { EffectiveSetting } from './settings.ts';
import type { Build } from './version.ts';

/** Facts about a process: build and effective settings. Shown to users; contains no secret. */
export interface About {
  readonly version: Version;
  readonly settings: Readonly<Record<string, EffectiveSetting>>;
}

/** Versions relevant when parts from different releases work together. */
export interface Version extends Build {
  /** Node.js version, with the leading v. */
  readonly node: string;
  /** Controller-agent protocols this build supports, newest last. */
  readonly agentProtocols: readonly number[];
  /** Fields of a node's source stored by this build's Viola. */
  readonly sourceFields: readonly string[];
}
