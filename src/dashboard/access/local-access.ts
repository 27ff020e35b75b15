import type { FastifyReply, FastifyRequest } from 'fastify';
import { loginRequest } from '../../api/dashboard.ts';
import { loginPath } from '../../api/dashboard-names.ts';
import type { HttpServer } from '../../http/app.ts';
import type { Clock } from '../../time/clock.ts';
import { publicRoute } from '../guard/guard.ts';
import type { PageAccess, RequestHead } from '../guard/page-access.ts';
import { PageProblem } from '../guard/page-problem.ts';
import { randomText, Secrets } from './secrets.ts';

/** Time from a link to its expiry. */
export const tokenLifetimeMs = 60_000;
/** Valid links: a new link drops the oldest. */
const mostTokens = 8;
/** Logged-in browsers: a new login drops the oldest. */
export const mostCookies = 32;
/** Largest login body (bytes). */
const loginBytes = 1_024;

/** Loopback names as in the address bar; ssh -L and WSL change the port. */
const ownHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

const loginStep = 'press Enter in the terminal of `multinic dashboard`, and open the new link';

/** Access for this machine's user, who sees the terminal: each login link carries a token for a single use. */
export class LocalAccess<Rights> implements PageAccess<Rights> {
  readonly loginStep = loginStep;
  readonly #rights: Rights;
  readonly #tokens: Secrets;
  readonly #cookies: Secrets;
  /** Browsers send a host's cookies to all ports: two runs have different names. */
  readonly #nameEnd = randomText(6);

  constructor(rights: Rights, clock: Clock) {
    this.#rights = rights;
    this.#tokens = new Secrets({ clock, limit: mostTokens, lifetimeMs: tokenLifetimeMs });
    this.#cookies = new Secrets({ clock, limit: mostCookies });
  }

  /** Returns a token for a single login within `tokenLifetimeMs`. */
  newToken(): string {
    return this.#tokens.issue();
  }

  isOwnHost(host: string): boolean {
    return ownHost.test(host);
  }

  rightsOf(request: RequestHead): Rights | undefined {
    const name = this.#cookieName(request);
    const values = cookiesOf(request).filter(([each]) => each === name);
    return values.some(([, value]) => this.#cookies.isValid(value)) ? this.#rights : undefined;
  }

  serveLogin(app: HttpServer): void {
    app.post(
      loginPath,
      { bodyLimit: loginBytes, config: publicRoute, schema: { body: loginRequest } },
      async (request, reply) => this.#login(request.body.token, request, reply),
    );
  }

  #login(token: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (!this.#tokens.redeem(token)) {
      const message = 'the link was used before, or is older than 60 s';
      throw new PageProblem(401, { reason: 'LinkExpired', message, nextStep: loginStep });
    }
    const cookie = `${this.#cookieName(request)}=${this.#cookies.issue()}`;
    return reply.header('set-cookie', `${cookie}; Path=/; HttpOnly; SameSite=Strict`).send({});
  }

  #cookieName({ socket }: RequestHead): string {
    return `multinic-${socket.localPort}-${this.#nameEnd}`;
  }
}

/** Returns names and values in the Cookie header. */
function cookiesOf({ headers }: RequestHead): (readonly [string, string])[] {
  return (headers.cookie ?? '').split(';').map((text) => {
    const [name = '', ...value] = text.trim().split('=');
    return [name, value.join('=')] as const;
  });
}
