import type { FastifyRequest } from 'fastify';
import type { HttpServer } from '../../http/app.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { Guard } from '../guard/guard.ts';
import { PageProblem } from '../guard/page-problem.ts';
import type { JsonRoute } from './json-route.ts';
import { WriterGate } from './writer-gate.ts';

export interface ServedRoutes<Rights> {
  readonly routes: readonly JsonRoute<Rights>[];
  readonly guard: Guard<Rights>;
  readonly clock: Clock;
  /** Longest time for an answer (ms). */
  readonly deadlineMs: number;
}

/** Serves JSON routes with the user's rights, a deadline, and a queue for actions. */
export function serveRoutes<Rights>(app: HttpServer, options: ServedRoutes<Rights>): void {
  const { routes, guard, clock, deadlineMs } = options;
  const gate = new WriterGate();
  const inWork = new Set<AbortController>();
  app.addHook('preClose', async () => {
    for (const end of inWork) end.abort(stopping());
  });

  async function answer(route: JsonRoute<Rights>, request: FastifyRequest): Promise<object> {
    const rights = guard.rightsOf(request);
    const input = inputOf(request);
    const end = new AbortController();
    inWork.add(end);
    const limit = { clock, ms: deadlineMs, signal: AbortSignal.any([request.work, end.signal]) };
    try {
      return await withDeadline(limit, (signal) => {
        const work = async () => route.answer(input, { rights, signal });
        return route.method === 'POST' ? gate.run(signal, work) : work();
      });
    } catch (error) {
      throw error instanceof DeadlineReached ? late(error) : error;
    } finally {
      inWork.delete(end);
    }
  }

  for (const route of routes) {
    const { method, path: url } = route;
    app.route({ method, url, handler: async (request) => answer(route, request) });
  }
}

/** Path parameters win over fields with the same name. */
function inputOf({ method, params, query, body }: FastifyRequest): object {
  return { ...((method === 'POST' ? body : query) as object), ...(params as object) };
}

function late(cause: DeadlineReached): PageProblem {
  const { message } = cause;
  const nextStep = 'try again; if the error stays, run `multinic doctor`';
  return new PageProblem(503, { reason: 'DeadlineReached', message, nextStep }, { cause });
}

function stopping(): PageProblem {
  return new PageProblem(503, {
    reason: 'Stopping',
    message: 'the dashboard is ending',
    nextStep: 'start `multinic dashboard` again',
  });
}
