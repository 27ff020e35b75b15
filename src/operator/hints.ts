import type { Looks } from './looks.ts';
import type { CloudViews } from './observe/cloud-view.ts';

/** That something has happened in a cloud; what, is read from the cloud. */
export interface Hint {
  /** Servers whose ports may have changed, lower case. */
  readonly servers: readonly string[];
  /** Ports that may have changed or gone, lower case: the servers where they were seen last are concerned too. */
  readonly ports: readonly string[];
  /** Networks and subnets that may have changed, lower case: a look at everything for whom they are no strangers. */
  readonly networks: readonly string[];
  /** More may have changed than these. */
  readonly whole: boolean;
}

/** Notes a hint for these OpenstackConfigs; answers those that are to be looked at now. */
export function takeHint(
  members: Iterable<string>,
  hint: Hint,
  { looks, views }: { readonly looks: Looks; readonly views: CloudViews },
): string[] {
  return [...members].filter((key) => {
    const isConcerned = looks.note(key, views.concerned(key, hint));
    const isWhole = hint.whole || views.knows(key, hint.networks);
    return isWhole ? looks.noteWhole(key) : isConcerned;
  });
}
