import { StatusError } from '../objects/status-error.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Token {
  readonly token: string;
  readonly user: string;
  readonly groups?: readonly string[];
}

/** Members of this group may do everything, whatever RBAC says. */
export const mastersGroup = 'system:masters';

/** Bearer tokens and whose they are. */
export class TokenTable {
  readonly #users = new Map<string, User>();

  add({ token, user, groups = [] }: Token): void {
    const implied = [...serviceAccountGroups(user), 'system:authenticated'];
    this.#users.set(token, { name: user, groups: [...groups, ...implied] });
  }

  /** The user behind an Authorization header; throws 401 when there is none. */
  authenticate(header: string | undefined): User {
    const user = this.#users.get(/^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? '');
    if (!user) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }
}

function serviceAccountGroups(user: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  if (namespace === undefined) return [];
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
