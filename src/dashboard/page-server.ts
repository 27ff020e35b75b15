import type { HttpServer } from '../http/app.ts';
import { createGuardedServer } from '../http/server.ts';
import type { Logger } from '../process/log.ts';
import type { Clock, Random } from '../time/clock.ts';
import { serveTabEvents } from './events/serve-events.ts';
import type { Upstream } from './events/upstream.ts';
import { Guard } from './guard/guard.ts';
import type { PageAccess } from './guard/page-access.ts';
import { pageErrors } from './guard/page-problem.ts';
import type { PageFile } from './page/page-files.ts';
import { servePage } from './page/serve-page.ts';
import type { JsonRoute } from './routes/json-route.ts';
import { serveRoutes } from './routes/serve-routes.ts';

/** Largest request body: an edited OpenstackConfig fits (bytes). */
const bodyLimit = 64 * 1_024;
/** Longest time for an answer (ms). */
const deadlineMs = 60_000;

/** The page's content, independent from the page's users. */
export interface PageContent<Rights> {
  readonly files: readonly PageFile[];
  readonly routes: readonly JsonRoute<Rights>[];
  /** Source for changes; undefined: the page polls. */
  readonly upstream?: Upstream | undefined;
}

export interface PageContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Creates the page's server. Every request passes the guard. */
export function createPageServer<Rights>(
  access: PageAccess<Rights>,
  { files, routes, upstream }: PageContent<Rights>,
  context: PageContext,
): HttpServer {
  const { clock, log } = context;
  const guard = new Guard(access);
  const app = createGuardedServer({
    clock,
    log,
    bodyLimit,
    deadlineMs,
    errorForm: pageErrors,
    guard: (request, reply) => guard.check(request, reply),
    routesAt: 'the page has no link to this address',
  });
  // Foreign pages can send forms as text without a preflight request.
  app.removeContentTypeParser('text/plain');
  access.serveLogin(app);
  servePage(app, files);
  serveRoutes(app, { routes, guard, clock, deadlineMs });
  if (upstream) serveTabEvents(app, guard, { ...context, upstream });
  return app;
}
