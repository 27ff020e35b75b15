/** Verbs of Kubernetes' authorisation, as far as parts use them. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete';

/**
 * Something that an identity has to be allowed. `Place` are the part's own words for namespaces, which differ from
 * installation to installation, and `When` for settings without which it is not needed.
 */
export interface Right<Place extends string = string, When extends string = string> {
  /** '' is the core group. */
  readonly group: string;
  /** `pods`, or with a subresource `pods/status`. */
  readonly resource: string;
  /** Objects of these names only; default: all. */
  readonly names?: readonly string[];
  readonly verbs: readonly Verb[];
  readonly where: Place;
  readonly why: Readonly<Record<'en' | 'ko', string>>;
  /** Needed with some settings only. */
  readonly when?: When;
  /** Not needed in the life of every installation: a log of one need not show it. */
  readonly rare?: true;
}

/** All rights of one identity, and what the roles are called that hold them. */
export interface RightsTable<Place extends string = string, When extends string = string> {
  /** Of what holds in all namespaces, and of objects outside of any. */
  readonly clusterRole?: string;
  /** Of the Roles in the namespaces of each place. */
  readonly roles: Readonly<Record<Exclude<Place, 'cluster'>, string>>;
  readonly rights: readonly Right<Place, When>[];
}

/** The namespaces that places are in one installation; `cluster` is all of them, and objects outside of any. */
export type Places<Place extends string> = Readonly<Record<Place, 'cluster' | readonly string[]>>;

/** One request as authorisation sees it. */
export interface Action {
  readonly verb: Verb;
  readonly group: string;
  /** `pods`, or with a subresource `pods/status`. */
  readonly resource: string;
  /** Missing: in all namespaces, or outside of any. */
  readonly namespace?: string;
  /** Missing: any object, or one that has no name yet. */
  readonly name?: string;
}

/** An action that a right is needed for. */
export interface Claim<R extends Right = Right> {
  readonly right: R;
  readonly action: Action;
}

/** All that rights come to in one installation: an action for each verb, namespace and name. */
export function claimsOf<Place extends string, R extends Right<Place>>(
  rights: readonly R[],
  places: Places<Place>,
): Claim<R>[] {
  return rights.flatMap((right) =>
    namespacesOf(places[right.where]).flatMap((namespace) =>
      (right.names ?? [undefined]).flatMap((name) =>
        right.verbs.map((verb) => ({
          right,
          action: {
            verb,
            group: right.group,
            resource: right.resource,
            ...(namespace === undefined ? {} : { namespace }),
            ...(name === undefined ? {} : { name }),
          },
        })),
      ),
    ),
  );
}

function namespacesOf(place: 'cluster' | readonly string[]): readonly (string | undefined)[] {
  return place === 'cluster' ? [undefined] : [...new Set(place)];
}

/** The same for equal actions, and for no others. */
export function keyOfAction({ verb, group, resource, namespace = '', name = '' }: Action): string {
  return [verb, group, resource, namespace, name].join(' ');
}

/** `leases.coordination.k8s.io`, `pods/status`: a resource as kubectl names it. */
export function qualified({ group, resource }: Pick<Action, 'group' | 'resource'>): string {
  const [plural = '', subresource] = resource.split('/');
  const whole = group === '' ? plural : `${plural}.${group}`;
  return subresource === undefined ? whole : `${whole}/${subresource}`;
}
