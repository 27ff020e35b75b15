import { type Action, type Claim, qualified } from '../../src/kube/rights.ts';

/** A request as the audit log of an API server tells of it; '' and missing are the same. */
export interface Request {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** HTTP status. */
  readonly status: number;
}

/** What an identity did, held against what it may do; each as `verb resource of name in namespace`. */
export interface Use {
  /** Granted, and no request needed it. */
  readonly unused: readonly string[];
  /** Refused with 403. */
  readonly refused: readonly string[];
  /** Let through although none of the rights says so: something else grants it. */
  readonly beyond: readonly string[];
}

/** Compares the requests of one identity with the rights that are claimed for it. */
export function useOf(requests: readonly Request[], user: string, claims: readonly Claim[]): Use {
  const asked = requests.filter((request) => request.user === user && !isEverybodys(request));
  const refused = refusedOf(requests, user);
  const allowed = asked.filter(({ status }) => status !== 401 && status !== 403);
  const done = allowed.flatMap(actionsOf);
  const granted = claims.map(({ action }) => action);
  return {
    unused: said(granted.filter((claim) => !done.some((action) => covers(claim, action)))),
    refused: said(refused),
    beyond: said(done.filter((action) => !granted.some((claim) => covers(claim, action)))),
  };
}

/** What was refused to an identity with 403. */
export function refusedOf(requests: readonly Request[], user: string): readonly Action[] {
  const asked = requests.filter((request) => request.user === user && !isEverybodys(request));
  return asked.filter(({ status }) => status === 403).flatMap(actionsOf);
}

/** What a request was authorized as; an apply that makes an object is a creation of that name too. */
function actionsOf({ verb, status, subresource, ...request }: Request): Action[] {
  const { group, namespace, name } = request;
  const action = {
    verb: verb as Action['verb'],
    group,
    resource: subresource ? `${request.resource}/${subresource}` : request.resource,
    ...(namespace ? { namespace } : {}),
    // Of an object that is being made nobody knew the name when it was decided.
    ...(name && (verb !== 'create' || subresource) ? { name } : {}),
  };
  const applied = { ...action, verb: 'create', ...(name ? { name } : {}) } as const;
  return verb === 'patch' && status === 201 ? [action, applied] : [action];
}

/** What every identity may do in every cluster: ask what is served, and what it may do itself. */
function isEverybodys({ group, resource }: Request): boolean {
  return resource === '' || group === 'authorization.k8s.io';
}

/** Whether a right to the first is a right to the second. */
export function covers(right: Action, { verb, group, resource, namespace, name }: Action): boolean {
  return (
    right.verb === verb &&
    right.group === group &&
    right.resource === resource &&
    (right.namespace === undefined || right.namespace === namespace) &&
    (right.name === undefined || right.name === name)
  );
}

/** `verb resource of name in namespace` */
export function inWords({ verb, namespace, name, ...resource }: Action): string {
  const which = name === undefined ? '' : ` of ${name}`;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return `${verb} ${qualified(resource)}${which}${where}`;
}

function said(actions: readonly Action[]): readonly string[] {
  return [...new Set(actions.map(inWords))].toSorted();
}
