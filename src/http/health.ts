import type { Registry } from 'prom-client';
import type { Health } from '../process/health.ts';
import type { HttpServer } from './app.ts';

/** Serves /healthz and /readyz (200, or 503 with the failing checks) and /metrics, all without a token. */
export function serveHealth(app: HttpServer, health: Health, registry: Registry): void {
  app.get('/healthz', { schema: { hide: true } }, async (_request, reply) => {
    const { ok, failing } = health.liveness();
    return reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'failing', failing });
  });
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const { ok, failing } = health.readiness();
    return reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'failing', failing });
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
