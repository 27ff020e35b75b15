/** Kubernetes RBAC verbs parts use. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/**
 * A right an identity needs. `Place`: the part's own words for namespaces, different in each installation. `When`:
 * settings without which the right is not needed.
 */
export interface Right<Place extends string = string, When extends string = string> {
  /** '' is the core group. */
  readonly group: string;
  /** `pods`, or with a subresource `pods/status`. */
  readonly resource: string;
  /** Only objects with these names; default: all. */
  readonly names?: readonly string[];
  readonly verbs: readonly Verb[];
  readonly where: Place;
  readonly why: Readonly<Record<'en' | 'ko', string>>;
  /** Only needed with some settings. */
  readonly when?: When;
  /** Rarely needed: an installation's audit log need not show this right. */
  readonly rare?: true;
  /** The part works without this right and reports the skipped work; the self-check ignores the right. */
  readonly optional?: true;
}

/** An identity's rights and role names. */
export interface RightsTable<Place extends string = string, When extends string = string> {
  /** ClusterRole for rights in all namespaces, and for cluster-scoped objects. */
  readonly clusterRole?: string;
  /** Role names per place. */
  readonly roles: Readonly<Record<Exclude<Place, 'cluster'>, string>>;
  readonly rights: readonly Right<Place, When>[];
}

/** Namespaces for each place in an installation; `cluster`: all namespaces, and cluster-scoped objects. */
export type Places<Place extends string> = Readonly<Record<Place, 'cluster' | readonly string[]>>;

/** A request as RBAC authorizes it. */
export interface Action {
  readonly verb: Verb;
  readonly group: string;
  /** `pods`, or with a subresource `pods/status`. */
  readonly resource: string;
  /** undefined: all namespaces, or cluster-scoped. */
  readonly namespace?: string;
  /** undefined: any object, or an object without a name yet. */
  readonly name?: string;
}

/** An action requiring a right. */
export interface Claim<R extends Right = Right> {
  readonly right: R;
  readonly action: Action;
}

/** Expands rights for an installation: an action per verb, namespace and name. */
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

/** Returns a key, equal only for equal actions. */
export function keyOfAction({ verb, group, resource, namespace = '', name = '' }: Action): string {
  return [verb, group, resource, namespace, name].join(' ');
}

/** Returns a resource in kubectl's form: `leases.coordination.k8s.io`, `pods/status`. */
export function qualified({ group, resource }: Pick<Action, 'group' | 'resource'>): string {
  const [plural = '', subresource] = resource.split('/');
  const whole = group === '' ? plural : `${plural}.${group}`;
  return subresource === undefined ? whole : `${whole}/${subresource}`;
}
