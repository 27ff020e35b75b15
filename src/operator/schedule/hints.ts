import type { Happening } from '../../openstack/notifications/envelope.ts';
import type { CloudViews } from '../observe/cloud-view.ts';
import type { Looks } from './scope.ts';

/** That something has happened in a cloud; what, is read from the cloud. */
export type Hint = Happening;

/** Notes a hint for these OpenstackConfigs; answers those that are to be looked at now. */
export function takeHint(
  members: Iterable<string>,
  hint: Hint,
  { looks, views }: { readonly looks: Looks; readonly views: CloudViews },
): string[] {
  return [...members].filter((key) => {
    const isConcerned = looks.note(key, views.concerned(key, hint));
    const isWhole =
      hint.whole ||
      views.knows(key, hint.networks) ||
      views.chooses(key, hint.projects) ||
      views.looksAs(key, hint.accounts);
    return isWhole ? looks.noteWhole(key) : isConcerned;
  });
}
