import * as z from 'zod';
import { headerOf } from '../requests/answer.ts';
import type { Caller } from '../requests/caller.ts';
import { isRequestError, RequestError } from '../requests/request-error.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import type { Clock } from '../time/clock.ts';
import { catalogSchema } from './catalog.ts';
import {
  accountText,
  type CloudAuth,
  type CloudIdentity,
  domainScopedText,
} from './cloud-identity.ts';
import type { CredentialGate, LoginOutcome } from './credential-gate.ts';
import { keystoneBase } from './endpoint.ts';
import { refusalCause } from './keystone-refusal.ts';
import type { Keystone, Session } from './keystone-session.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { answerFailure, jsonOf, parseAs } from './requests/answer-failure.ts';
import { SingleFlight } from './single-flight.ts';

export interface KeystoneOptions {
  readonly identity: CloudIdentity;
  readonly caller: Caller;
  readonly clock: Clock;
  /** Shared by all logins with the same user name and password. */
  readonly gate: CredentialGate;
  readonly turns: RefreshTurns;
  /** Aborts logins that no caller awaits. */
  readonly lifetime: AbortSignal;
  /** Called when Keystone refuses the credential. */
  readonly onRefused?: () => void;
  /** Called on each token lookup. */
  readonly onLookup?: (isHit: boolean) => void;
}

const named = z.object({ id: z.string() }).optional().catch(undefined);
const tokenSchema = z.object({
  token: z.object({
    project: z.object({ id: z.string().min(1), domain: named }),
    user: z.object({ id: z.string(), domain: named }).optional().catch(undefined),
    application_credential: named,
    issued_at: z.iso.datetime({ offset: true }),
    expires_at: z.iso.datetime({ offset: true }),
    catalog: catalogSchema,
  }),
});

/** Used fraction (0.9) from a token's lifetime; the rest covers clock error and slow answers. */
const usableFraction = 0.9;
/**
 * Oldest token (10 s) that may serve a login request. Services cache token validation for five minutes
 * (keystonemiddleware, token_cache_time), so an old token does not regain a role granted since.
 */
const maxAgeMs = 10_000;

/** Creates logins for one project; all callers share one token and one concurrent login. */
export function createKeystone(options: KeystoneOptions): Keystone {
  const { caller, clock, lifetime, gate, turns } = options;
  const { keystoneUrl, auth } = options.identity;
  const logins = new SingleFlight<Session>();
  let current:
    | { readonly session: Session; readonly since: number; readonly usableUntil: number }
    | undefined;
  let last: Pick<Session, 'projectId' | 'accounts'> | undefined;

  async function send(body: unknown): Promise<HttpAnswer> {
    const url = new URL(`${keystoneBase(keystoneUrl)}/auth/tokens`);
    const login = { service: 'keystone', method: 'POST', url } as const;
    const check = (answer: HttpAnswer): void => {
      // 201 and refusals are results, not service failures.
      if (answer.status === 201 || isRefusal(answer)) return;
      throw answerFailure(login, answer, clock.now());
    };
    return caller.call({ ...login, body: JSON.stringify(body), check }, lifetime);
  }

  async function logIn(): Promise<LoginOutcome<Session>> {
    const startedAt = clock.monotonicMs();
    turns.spend();
    const answer = await send(loginBody(auth));
    if (isRefusal(answer)) return refusal(answer);
    const { session, lifetimeMs } = sessionOf(answer);
    current = { session, since: startedAt, usableUntil: startedAt + lifetimeMs * usableFraction };
    const { projectId, accounts } = session;
    last = { projectId, accounts };
    return { kind: 'accepted', value: session };
  }

  /** Distinguishes a wrong project from a wrong password with an unscoped login: Keystone answers both alike. */
  async function refusal(answer: HttpAnswer): Promise<LoginOutcome<Session>> {
    const who = accountText(auth);
    const { words, isAccount } = refusalCause(answer, secretOf(auth));
    if (auth.kind === 'applicationCredential') {
      const why = 'its secret is wrong, or it was revoked or has expired';
      return { kind: 'refused', error: badCredential(`${who} was refused: ${why}${words}`) };
    }
    const project = `project ${domainScopedText(auth.project)}`;
    // The second login also counts towards Keystone's account lockout.
    if (isAccount || isRefusal(await send(loginBody(auth, 'unscoped')))) {
      return { kind: 'refused', error: badCredential(`${who} was refused for ${project}${words}`) };
    }
    gate.accept();
    throw badCredential(`${who} has no role in ${project}, or the project does not exist${words}`);
  }

  async function passGate(): Promise<Session> {
    try {
      return await gate.logIn(logIn);
    } catch (error) {
      // The password may have changed at its source, for example in Contrabass.
      if (isRequestError(error, 'badCredential')) options.onRefused?.();
      throw error;
    }
  }

  function usableSession(): Session | undefined {
    if (current === undefined || clock.monotonicMs() >= current.usableUntil) return undefined;
    return gate.requestedAt - current.since < maxAgeMs ? current.session : undefined;
  }

  return {
    async session(signal) {
      const usable = usableSession();
      options.onLookup?.(usable !== undefined);
      if (usable) {
        gate.markServed();
        return usable;
      }
      return logins.run('', signal, passGate);
    },
    drop(session) {
      if (current?.session === session) current = undefined;
    },
    get projectId() {
      return last?.projectId;
    },
    get accounts() {
      return last?.accounts;
    },
  };
}

function secretOf(auth: CloudAuth): string {
  return auth.kind === 'password' ? auth.password : auth.secret;
}

function badCredential(reason: string): RequestError {
  return new RequestError(reason, { service: 'keystone', kind: 'badCredential', status: 401 });
}

/**
 * Returns the body for POST /v3/auth/tokens. An application credential implies its project and must not name another.
 */
function loginBody(auth: CloudAuth, scope?: 'unscoped'): unknown {
  if (auth.kind === 'applicationCredential') {
    const { credential, secret } = auth;
    const identity = {
      methods: ['application_credential'],
      application_credential: { ...credential, secret },
    };
    return { auth: { identity } };
  }
  const { user, password, project } = auth;
  const identity = { methods: ['password'], password: { user: { ...user, password } } };
  return { auth: { identity, scope: scope ?? { project } } };
}

const unknownCredential = z.object({
  error: z.object({ code: z.literal(404), message: z.string().regex(/application credential/i) }),
});

/** True for 401, and for Keystone's own 404 JSON about an unknown application credential. */
function isRefusal({ status, text }: HttpAnswer): boolean {
  if (status === 401) return true;
  if (status !== 404) return false;
  try {
    return unknownCredential.safeParse(JSON.parse(text)).success;
  } catch {
    // A 404 page from a proxy before Keystone: the URL is wrong, not the credential.
    return false;
  }
}

// Lifetime is the difference between two Keystone timestamps, so clock offsets on either side are harmless.
function sessionOf(answer: HttpAnswer): { session: Session; lifetimeMs: number } {
  const what = 'POST /v3/auth/tokens';
  const { token } = parseAs(tokenSchema, 'keystone', what, jsonOf('keystone', what, answer));
  const subject = headerOf(answer, 'x-subject-token');
  if (subject === undefined || subject === '') {
    throw new RequestError(`${what}: no X-Subject-Token in the answer`, {
      service: 'keystone',
      kind: 'badAnswer',
    });
  }
  return {
    session: {
      token: subject,
      projectId: token.project.id.toLowerCase(),
      accounts: accountsOf(token),
      catalog: token.catalog,
    },
    lifetimeMs: Date.parse(token.expires_at) - Date.parse(token.issued_at),
  };
}

function accountsOf({
  project,
  user,
  application_credential: credential,
}: z.infer<typeof tokenSchema>['token']): string[] {
  const all = [project, project.domain, user, user?.domain, credential];
  return all.flatMap((one) => one?.id.toLowerCase() ?? []);
}
