import * as z from 'zod';
import { headerOf } from '../requests/answer.ts';
import type { Caller } from '../requests/caller.ts';
import { isRequestError, RequestError } from '../requests/request-error.ts';
import type { HttpAnswer } from '../requests/transport.ts';
import type { Clock } from '../time/clock.ts';
import { type Catalog, catalogSchema } from './catalog.ts';
import type { CloudIdentity } from './cloud-identity.ts';
import type { CredentialGate, LoginOutcome } from './credential-gate.ts';
import { keystoneBase } from './endpoint.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { answerFailure, jsonOf, parseAs } from './requests/answer-failure.ts';
import { SingleFlight } from './single-flight.ts';

/** A token and what came with it. */
export interface Session {
  readonly token: string;
  readonly catalog: Catalog;
}

export interface Keystone {
  /** The current session; logs in when there is none or it is about to expire. */
  session(signal: AbortSignal): Promise<Session>;
  /** Forgets a session whose token a service refused; another one that came meanwhile stays. */
  drop(session: Session): void;
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
  /** Called when Keystone refuses user name and password. */
  readonly onRefused?: () => void;
}

const tokenSchema = z.object({
  token: z.object({
    issued_at: z.iso.datetime({ offset: true }),
    expires_at: z.iso.datetime({ offset: true }),
    catalog: catalogSchema,
  }),
});

/** Tokens are renewed this long before they expire; of a short-lived one, for the last fifth of its life. */
const renewalMs = 5 * 60_000;

/** Password login, project scoped by id; one token shared by everybody, one login at a time. */
export function createKeystone(options: KeystoneOptions): Keystone {
  const { caller, clock, identity, lifetime, gate, turns } = options;
  const logins = new SingleFlight<Session>();
  let current: { readonly session: Session; readonly usableUntil: number } | undefined;

  async function send(scope: unknown): Promise<HttpAnswer> {
    const url = new URL(`${keystoneBase(identity.keystoneUrl)}/auth/tokens`);
    const login = { service: 'keystone', method: 'POST', url } as const;
    const body = JSON.stringify(loginBody(identity, scope));
    const check = (answer: HttpAnswer): void => {
      // Neither is a failure of the service.
      if (answer.status === 201 || answer.status === 401) return;
      throw answerFailure(login, answer, clock.now());
    };
    return caller.call({ ...login, body, check }, lifetime);
  }

  async function logIn(): Promise<LoginOutcome<Session>> {
    const asked = clock.monotonicMs();
    turns.spend();
    const answer = await send({ project: { id: identity.projectId } });
    if (answer.status === 401) return refusal();
    const { session, lifetimeMs } = sessionOf(answer);
    const usableMs = lifetimeMs - Math.min(renewalMs, lifetimeMs / 5);
    current = { session, usableUntil: asked + usableMs };
    return { kind: 'accepted', value: session };
  }

  /** Keystone answers a wrong project as it does a wrong password; a login without a project tells them apart. */
  async function refusal(): Promise<LoginOutcome<Session>> {
    const { username, domainName, projectId } = identity;
    const user = `user "${username}" of domain "${domainName}"`;
    if ((await send('unscoped')).status === 401) {
      return {
        kind: 'refused',
        error: badCredential(`${user} was refused for project "${projectId}"`),
      };
    }
    gate.accept();
    throw badCredential(
      `${user} has no role in project "${projectId}", or there is no such project`,
    );
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

  return {
    async session(signal) {
      if (current !== undefined && clock.monotonicMs() < current.usableUntil)
        return current.session;
      return logins.run('', signal, passGate);
    },
    drop(session) {
      if (current?.session === session) current = undefined;
    },
  };
}

function badCredential(reason: string): RequestError {
  return new RequestError(reason, { service: 'keystone', kind: 'badCredential', status: 401 });
}

function loginBody(identity: CloudIdentity, scope: unknown): unknown {
  const user = {
    name: identity.username,
    domain: { name: identity.domainName },
    password: identity.password,
  };
  return {
    auth: {
      identity: { methods: ['password'], password: { user } },
      scope,
    },
  };
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
    session: { token: subject, catalog: token.catalog },
    lifetimeMs: Date.parse(token.expires_at) - Date.parse(token.issued_at),
  };
}
