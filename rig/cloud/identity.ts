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

/** Stands for one user in one project, until it is taken back. */
export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  readonly userId: string;
  readonly projectId: string;
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

/** By id, or by name in the one domain. */
export type Ref =
  | { readonly id: string }
  | { readonly name: string; readonly domain: { readonly id: string } | { readonly name: string } };

/** A password and whose it is. */
export interface Credential {
  readonly user: Ref;
  readonly password: string;
}

export interface CredentialLogin {
  readonly credential: { readonly id: string } | { readonly name: string; readonly user: Ref };
  readonly secret: string;
}

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

/** Keystone's own domain, which every installation begins with. */
export const domainId = 'default';

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
  readonly #credentials = new Map<string, ApplicationCredential>();
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
    if (!this.#grants.delete(`${projectId} ${userId} ${roleId}`)) {
      throw new Refusal(404, '', `Could not find role assignment with role: ${roleId}.`);
    }
    this.#dropCredentials((one) => one.projectId === projectId && one.userId === userId);
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
    this.#dropCredentials(({ projectId }) => projectId === id);
  }

  deleteUser(id: string): void {
    if (!this.#users.delete(id)) throw new Refusal(404, '', `Could not find user: ${id}.`);
    this.#revoke((session) => session.user.id === id);
    this.#dropCredentials(({ userId }) => userId === id);
  }

  /** Makes a credential of whoever asks, for the project of their token. */
  createCredential({ user, project }: Session, name: string): ApplicationCredential {
    const made = { id: newId(), name, secret: newId(), userId: user.id, projectId: project.id };
    this.#credentials.set(made.id, made);
    return made;
  }

  deleteCredential(id: string): void {
    if (this.#credentials.delete(id)) return;
    throw new Refusal(404, '', unknownCredential(id));
  }

  /** Checks a password as a login without a project does. */
  checkPassword({ user: ref, password }: Credential): User {
    const user = this.#find(this.#users, ref);
    if (user?.password === password) return user;
    throw new Refusal(401, '', authenticationRequired);
  }

  /** A new token. Whatever is wrong gets the same 401, so that nobody learns which part it was. */
  logIn(login: Credential & { readonly project: Ref }): Session {
    const user = this.checkPassword(login);
    return this.#open(user, this.#find(this.#projects, login.project));
  }

  /** A new token by an application credential; one that is not known is told from a wrong secret. */
  logInWith({ credential, secret }: CredentialLogin): Session {
    const known = this.#credentialOf(credential);
    const user = this.#users.get(known.userId);
    if (user === undefined || known.secret !== secret) {
      throw new Refusal(401, '', authenticationRequired);
    }
    return this.#open(user, this.#projects.get(known.projectId));
  }

  #credentialOf(ref: CredentialLogin['credential']): ApplicationCredential {
    if ('id' in ref) {
      const known = this.#credentials.get(ref.id);
      if (known === undefined) throw new Refusal(404, '', unknownCredential(ref.id));
      return known;
    }
    const owner = this.#find(this.#users, ref.user);
    const known = [...this.#credentials.values()].find(
      ({ name, userId }) => name === ref.name && userId === owner?.id,
    );
    if (known === undefined) throw new Refusal(401, '', authenticationRequired);
    return known;
  }

  #find<T extends { readonly name: string }>(all: ReadonlyMap<string, T>, ref: Ref): T | undefined {
    if ('id' in ref) return all.get(ref.id);
    const { domain, name } = ref;
    const isOurs = 'id' in domain ? domain.id === domainId : domain.name === this.domainName;
    return isOurs ? [...all.values()].find((one) => one.name === name) : undefined;
  }

  #open(user: User, project: Project | undefined): Session {
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

  #dropCredentials(matches: (credential: ApplicationCredential) => boolean): void {
    for (const one of this.#credentials.values()) {
      if (matches(one)) this.#credentials.delete(one.id);
    }
  }

  #roleId(name: string): string {
    const role = this.roles.find((candidate) => candidate.name === name);
    if (role === undefined) throw new Error(`no role ${name}`);
    return role.id;
  }
}

function unknownCredential(id: string): string {
  return `Could not find Application Credential: ${id}.`;
}
