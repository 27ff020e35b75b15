import type { Clock } from '../../src/time/clock.ts';
import { newId } from './ids.ts';
import { Refusal } from './refusal.ts';

export interface Project {
  readonly id: string;
  readonly name: string;
}

export interface User {
  readonly id: string;
  readonly name: string;
  readonly password: string;
}

/** Who asks: a token's meaning. */
export interface Session {
  readonly token: string;
  readonly user: User;
  readonly project: Project;
  readonly isAdmin: boolean;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly domainName: string;
  readonly project: { readonly id: string } | { readonly name: string };
}

export type Credential = Omit<Login, 'project'>;

export interface AdminAccount {
  readonly username: string;
  readonly password: string;
  readonly projectName: string;
  readonly domainName: string;
}

export interface IdentityOptions {
  readonly clock: Clock;
  readonly admin: AdminAccount;
  readonly tokenLifetimeMs: number;
}

/** Whether a resource of a project is there for who asks. */
export function maySee(session: Session, resource: { readonly projectId: string }): boolean {
  return session.isAdmin || resource.projectId === session.project.id;
}

const authenticationRequired = 'The request you have made requires authentication.';

/** Projects, users, roles and tokens of one domain. */
export class Identity {
  readonly domainName: string;
  readonly roles: readonly { readonly id: string; readonly name: string }[];
  readonly #clock: Clock;
  readonly #tokenLifetimeMs: number;
  readonly #projects = new Map<string, Project>();
  readonly #users = new Map<string, User>();
  /** `project user role` ids. */
  readonly #grants = new Set<string>();
  readonly #sessions = new Map<string, Session>();

  constructor({ clock, admin, tokenLifetimeMs }: IdentityOptions) {
    this.#clock = clock;
    this.#tokenLifetimeMs = tokenLifetimeMs;
    this.domainName = admin.domainName;
    this.roles = ['admin', 'member', 'reader'].map((name) => ({ id: newId(), name }));
    const project = this.createProject(admin.projectName);
    const user = this.createUser(admin.username, admin.password);
    this.grant(project.id, user.id, this.#roleId('admin'));
  }

  createProject(name: string): Project {
    const project = { id: newId(), name };
    this.#projects.set(project.id, project);
    return project;
  }

  createUser(name: string, password: string): User {
    const user = { id: newId(), name, password };
    this.#users.set(user.id, user);
    return user;
  }

  /** Lets a user into a project. */
  grant(projectId: string, userId: string, roleId: string): void {
    this.#grants.add(`${projectId} ${userId} ${roleId}`);
  }

  /** Takes a role from a user; tokens that are out keep it, as services remember what they have checked. */
  ungrant(projectId: string, userId: string, roleId: string): void {
    if (this.#grants.delete(`${projectId} ${userId} ${roleId}`)) return;
    throw new Refusal(404, '', `Could not find role assignment with role: ${roleId}.`);
  }

  /** Lets a user into a project as `member`. */
  grantMember(projectId: string, userId: string): void {
    this.grant(projectId, userId, this.#roleId('member'));
  }

  /** Lets a cloud administrator into a project. */
  grantAdmin(projectId: string, username: string): void {
    const user = [...this.#users.values()].find((candidate) => candidate.name === username);
    if (user !== undefined) this.grant(projectId, user.id, this.#roleId('admin'));
  }

  deleteProject(id: string): void {
    if (!this.#projects.delete(id)) throw new Refusal(404, '', `Could not find project: ${id}.`);
    this.#revoke((session) => session.project.id === id);
  }

  deleteUser(id: string): void {
    if (!this.#users.delete(id)) throw new Refusal(404, '', `Could not find user: ${id}.`);
    this.#revoke((session) => session.user.id === id);
  }

  /** Checks a password as a login without a project does. */
  checkPassword(credential: Credential): User {
    const user = [...this.#users.values()].find(({ name }) => name === credential.username);
    const known = credential.domainName === this.domainName;
    if (known && user?.password === credential.password) return user;
    throw new Refusal(401, '', authenticationRequired);
  }

  /** A new token. Whatever is wrong gets the same 401, so that nobody learns which part it was. */
  logIn(login: Login): Session {
    const user = this.checkPassword(login);
    const project = [...this.#projects.values()].find((candidate) =>
      'id' in login.project
        ? candidate.id === login.project.id
        : candidate.name === login.project.name,
    );
    const roles = this.roles.filter(
      (role) => project && this.#grants.has(`${project.id} ${user.id} ${role.id}`),
    );
    if (project === undefined || roles.length === 0) {
      throw new Refusal(401, '', authenticationRequired);
    }
    const issuedAt = this.#clock.now();
    const session: Session = {
      token: `gAAAAAB${newId()}${newId()}`,
      user,
      project,
      isAdmin: roles.some((role) => role.name === 'admin'),
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + this.#tokenLifetimeMs),
    };
    this.#sessions.set(session.token, session);
    return session;
  }

  /** Who the token stands for; 401 for a token that is unknown, revoked or expired. */
  sessionOf(token: string | undefined): Session {
    const session = token === undefined ? undefined : this.#sessions.get(token);
    if (session === undefined || session.expiresAt <= this.#clock.now()) {
      throw new Refusal(401, '', authenticationRequired);
    }
    return session;
  }

  /** Ends one token. */
  revoke(token: string): void {
    this.#sessions.delete(token);
  }

  /** Ends every token, as a rotation of Keystone's keys does. */
  revokeAll(): void {
    this.#sessions.clear();
  }

  #revoke(matches: (session: Session) => boolean): void {
    for (const session of this.#sessions.values()) {
      if (matches(session)) this.#sessions.delete(session.token);
    }
  }

  #roleId(name: string): string {
    const role = this.roles.find((candidate) => candidate.name === name);
    if (role === undefined) throw new Error(`no role ${name}`);
    return role.id;
  }
}
