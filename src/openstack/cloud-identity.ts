import type { TlsOptions } from '../requests/transport.ts';
import { keystonePlace } from './endpoint.ts';

/**
 * Cloud identity: Keystone URL, account, project scope and connection settings. Two different identities never share
 * a Cloud.
 */
export interface CloudIdentity {
  readonly keystoneUrl: string;
  readonly auth: CloudAuth;
  readonly region?: string | undefined;
  readonly interface: 'public' | 'internal' | 'admin';
  /** Overrides the catalog. */
  readonly neutronUrl?: string | undefined;
  /** Overrides the catalog. */
  readonly novaUrl?: string | undefined;
  /** Origins that the catalog may name under the operator's policy; undefined: no limit. */
  readonly allowedEndpoints?: readonly string[];
  /**
   * Setting that disabled certificate verification, and the origins where policy allows this; undefined: anywhere.
   */
  readonly unverified?: { readonly by: string; readonly endpoints: readonly string[] };
  readonly tls: TlsOptions;
  readonly timeoutMs: number;
}

/** Policy limits for endpoints in a cloud's catalog. */
export type CatalogLimits = Pick<CloudIdentity, 'allowedEndpoints' | 'unverified'>;

/** Credentials for a Keystone token scoped to one project. */
export type CloudAuth = PasswordAuth | ApplicationCredentialAuth;

export interface PasswordAuth {
  readonly kind: 'password';
  readonly user: InDomain;
  readonly password: string;
  readonly project: InDomain;
}

/** Password login with user and domain by name, and project by id. */
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

/** Application credential. Keystone binds each credential to one user and one project. */
export interface ApplicationCredentialAuth {
  readonly kind: 'applicationCredential';
  readonly credential: { readonly id: string } | { readonly name: string; readonly user: InDomain };
  readonly secret: string;
}

/** Names are unique within a domain, ids everywhere. */
export type DomainRef = { readonly id: string } | { readonly name: string };
/** User or project reference. */
export type InDomain =
  | { readonly id: string }
  | { readonly name: string; readonly domain: DomainRef };

/** Account at one Keystone, independent from the project. */
export interface Account {
  /** Keystone address in keystonePlace's canonical form. */
  readonly keystone: string;
  readonly who: InDomain | ApplicationCredentialAuth['credential'];
}

export function accountOf({ keystoneUrl, auth }: CloudIdentity): Account {
  const who = auth.kind === 'password' ? auth.user : auth.credential;
  return { keystone: keystonePlace(keystoneUrl), who };
}

/** Account with its secret, the combination that Keystone accepts or refuses. */
export function credentialOf(identity: CloudIdentity): Account & { readonly secret: string } {
  const { auth } = identity;
  return {
    ...accountOf(identity),
    secret: auth.kind === 'password' ? auth.password : auth.secret,
  };
}

/** Account description for messages and logs. */
export function accountText(auth: CloudAuth): string {
  if (auth.kind === 'password') return `user ${domainScopedText(auth.user)}`;
  const { credential } = auth;
  const owner = 'user' in credential ? ` of user ${domainScopedText(credential.user)}` : '';
  return `application credential "${'id' in credential ? credential.id : credential.name}"${owner}`;
}

/** User or project description for messages. */
export function domainScopedText(one: InDomain): string {
  if ('id' in one) return `"${one.id}"`;
  const { name, domain } = one;
  return `"${name}" of domain "${'id' in domain ? domain.id : domain.name}"`;
}
