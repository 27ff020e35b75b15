import type { Catalog } from './catalog.ts';

/** Keystone token with its project, accounts and catalog. */
export interface Session {
  readonly token: string;
  /** Project scope; lower case. */
  readonly projectId: string;
  /** Ids that the token depends on: user, project, both domains, application credential; lower case. */
  readonly accounts: readonly string[];
  readonly catalog: Catalog;
}

export interface Keystone {
  /** Returns the current session; logs in when none exists or the token is about to expire. */
  session(signal: AbortSignal): Promise<Session>;
  /** Drops a session whose token a service refused. A newer session stays. */
  drop(session: Session): void;
  /** Values from the last session; undefined before the first login. */
  readonly projectId: string | undefined;
  readonly accounts: readonly string[] | undefined;
}
