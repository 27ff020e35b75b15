import type { EffectiveSetting } from './settings.ts';
import type { Build } from './version.ts';

/** What a process is, and how it was set up; shown to people, and by no means secret. */
export interface About {
  readonly version: Version;
  readonly settings: Readonly<Record<string, EffectiveSetting>>;
}

/** What has to fit together when parts of two versions meet. */
export interface Version extends Build {
  /** Of Node.js, with the leading v. */
  readonly node: string;
  /** Protocols between controller and agent that this build speaks, newest last. */
  readonly agentProtocols: readonly number[];
}
