import * as z from 'zod';
import { headerOf } from '../requests/answer.ts';
import type { Caller } from '../requests/caller.ts';
import { isRequestError, RequestError } from '../requests/request-error.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import type { Clock } from '../time/clock.ts';
import { type Catalog, catalogSchema } from './catalog.ts';
import {
  accountText,
  type CloudAuth,
  type CloudIdentity,
  domainScopedText,
} from './cloud-identity.ts';
import type { CredentialGate, LoginOutcome } from './credential-gate.ts';
import { keystoneBase } from './endpoint.ts';
import { refusalCause } from './keystone-refusal.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { answerFailure, jsonOf, parseAs } from './requests/answer-failure.ts';
import { SingleFlight } from './single-flight.ts';

/** A token and what came with it. */
export interface Session {
  readonly token: string;
  /** The project that it is for; lower case. */
  readonly projectId: string;
  /** Ids of all that the token is good by: user, project, their domains, application credential; lower case. */
  readonly accounts: readonly string[];
  readonly catalog: Catalog;
}

export interface Keystone {
  /** The current session; logs in when there is none or it is about to expire. */
  session(signal: AbortSignal): Promise<Session>;
  /** Forgets a session whose token a service refused; another one that came meanwhile stays. */
  drop(session: Session): void;
  /** Of the last session; undefined before the first. */
  readonly projectId: string | undefined;
  readonly accounts: readonly string[] | undefined;
}

export interface KeystoneOptions {
  readonly identity: CloudIdentity;
  readonly caller: Caller;
  readonly clock: Clock;
  /** Shared by everybody who logs in with the same user name and password. */
  readonly gate: CredentialGate;
  readonly turns: RefreshTurns;
  /** Ends logins that nobody waits for any more. */
  readonly lifetime: AbortSignal;
  /** Called when Keystone refuses the credential. */
  readonly onRefused?: () => void;
  /** Told whenever a token is needed whether there was one. */
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

/** Of its life, a token is used for so much: clocks and slow answers have the rest. */
const usedPart = 0.9;
/**
 * Who asks is served with no token older than this: services remember for five minutes what a token was good for
 * (keystonemiddleware, token_cache_time), so one that lost a role does not get it back.
 */
const youngMs = 10_000;

/** Logs in for one project; one token shared by everybody, one login at a time. */
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
      // Neither is a failure of the service.
      if (answer.status === 201 || isRefusal(answer)) return;
      throw answerFailure(login, answer, clock.now());
    };
    return caller.call({ ...login, body: JSON.stringify(body), check }, lifetime);
  }

  async function logIn(): Promise<LoginOutcome<Session>> {
    const asked = clock.monotonicMs();
    turns.spend();
    const answer = await send(loginBody(auth));
    if (isRefusal(answer)) return refusal(answer);
    const { session, lifetimeMs } = sessionOf(answer);
    current = { session, since: asked, usableUntil: asked + lifetimeMs * usedPart };
    const { projectId, accounts } = session;
    last = { projectId, accounts };
    return { kind: 'accepted', value: session };
  }

  /** Keystone answers a wrong project as it does a wrong password; a login without a project tells them apart. */
  async function refusal(answer: HttpAnswer): Promise<LoginOutcome<Session>> {
    const who = accountText(auth);
    const { words, isAccount } = refusalCause(answer, secretOf(auth));
    if (auth.kind === 'applicationCredential') {
      const why = 'its secret is wrong, or it was revoked or has expired';
      return { kind: 'refused', error: badCredential(`${who} was refused: ${why}${words}`) };
    }
    const project = `project ${domainScopedText(auth.project)}`;
    // A second login counts for Keystone's lockout.
    if (isAccount || isRefusal(await send(loginBody(auth, 'unscoped')))) {
      return { kind: 'refused', error: badCredential(`${who} was refused for ${project}${words}`) };
    }
    gate.accept();
    throw badCredential(`${who} has no role in ${project}, or there is no such project${words}`);
  }

  async function passGate(): Promise<Session> {
    try {
      return await gate.logIn(logIn);
    } catch (error) {
      // The password may have been changed where it came from.
      if (isRequestError(error, 'badCredential')) options.onRefused?.();
      throw error;
    }
  }

  function usableSession(): Session | undefined {
    if (current === undefined || clock.monotonicMs() >= current.usableUntil) return undefined;
    return gate.askedAt - current.since < youngMs ? current.session : undefined;
  }

  return {
    async session(signal) {
      const usable = usableSession();
      options.onLookup?.(usable !== undefined);
      if (usable) {
        gate.served();
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

/** The body of POST /v3/auth/tokens; an application credential brings its project, and may name no other. */
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

/** Keystone answers 404 to an application credential that it does not know, as long as it says so itself. */
function isRefusal({ status, text }: HttpAnswer): boolean {
  if (status === 401) return true;
  if (status !== 404) return false;
  try {
    return unknownCredential.safeParse(JSON.parse(text)).success;
  } catch {
    // A page of something before Keystone: the service is not where it is looked for.
    return false;
  }
}

// The life is the difference of two of Keystone's own times, so a wrong clock on either side does no harm.
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
