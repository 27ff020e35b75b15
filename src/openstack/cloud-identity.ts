import type { TlsOptions } from '../requests/transport.ts';
import { keystonePlace } from './endpoint.ts';

/** Everything that makes two clouds different: who asks what, as whom, scoped to which project. */
export interface CloudIdentity {
  readonly keystoneUrl: string;
  readonly auth: CloudAuth;
  readonly region?: string | undefined;
  readonly interface: 'public' | 'internal' | 'admin';
  /** Wins over the catalog. */
  readonly neutronUrl?: string | undefined;
  /** Wins over the catalog. */
  readonly novaUrl?: string | undefined;
  /** Origins that its catalog may name, as far as the operator's policy limits them for this cloud. */
  readonly allowedEndpoints?: readonly string[];
  /** Who had certificates not verified, and the origins at which the operator's policy lets him; undefined = anywhere. */
  readonly unverified?: { readonly by: string; readonly endpoints: readonly string[] };
  readonly tls: TlsOptions;
  readonly timeoutMs: number;
}

/** How far the operator's policy limits where the catalog of a cloud may lead. */
export type CatalogLimits = Pick<CloudIdentity, 'allowedEndpoints' | 'unverified'>;

/** With what Keystone is asked for a token of one project. */
export type CloudAuth = PasswordAuth | ApplicationCredentialAuth;

export interface PasswordAuth {
  readonly kind: 'password';
  readonly user: InDomain;
  readonly password: string;
  readonly project: InDomain;
}

/** The login of an account by names, for a project by its id. */
export function passwordAuth(account: {
  readonly username: string;
  readonly domainName: string;
  readonly password: string;
  readonly projectId: string;
}): PasswordAuth {
  const { username: name, domainName, password, projectId } = account;
  return {
    kind: 'password',
    user: { name, domain: { name: domainName } },
    password,
    project: { id: projectId },
  };
}

/** Belongs to one user and one project, and says which. */
export interface ApplicationCredentialAuth {
  readonly kind: 'applicationCredential';
  readonly credential: { readonly id: string } | { readonly name: string; readonly user: InDomain };
  readonly secret: string;
}

/** Names are unique in a domain, ids everywhere. */
export type DomainRef = { readonly id: string } | { readonly name: string };
/** A user or a project. */
export type InDomain =
  | { readonly id: string }
  | { readonly name: string; readonly domain: DomainRef };

/** Who logs in where, in whichever project. */
export interface Account {
  /** Where, as keystonePlace says it. */
  readonly keystone: string;
  readonly who: InDomain | ApplicationCredentialAuth['credential'];
}

export function accountOf({ keystoneUrl, auth }: CloudIdentity): Account {
  const who = auth.kind === 'password' ? auth.user : auth.credential;
  return { keystone: keystonePlace(keystoneUrl), who };
}

/** An account with what only it knows: it is that which Keystone refuses. */
export function credentialOf(identity: CloudIdentity): Account & { readonly secret: string } {
  const { auth } = identity;
  return {
    ...accountOf(identity),
    secret: auth.kind === 'password' ? auth.password : auth.secret,
  };
}

/** Who logs in, for messages and logs. */
export function accountText(auth: CloudAuth): string {
  if (auth.kind === 'password') return `user ${domainScopedText(auth.user)}`;
  const { credential } = auth;
  const owner = 'user' in credential ? ` of user ${domainScopedText(credential.user)}` : '';
  return `application credential "${'id' in credential ? credential.id : credential.name}"${owner}`;
}

/** A user or a project, for messages. */
export function domainScopedText(one: InDomain): string {
  if ('id' in one) return `"${one.id}"`;
  const { name, domain } = one;
  return `"${name}" of domain "${'id' in domain ? domain.id : domain.name}"`;
}
