import type { HttpServer } from '../../../http/app.ts';
import { createGuardedServer } from '../../../http/server.ts';
import type { Logger } from '../../../process/log.ts';
import type { Clock } from '../../../time/clock.ts';
import { type AdmissionRequest, admissionReview, reviewed } from './admission-review.ts';
import { webhookPath } from './exempt.ts';

export interface WebhookServerOptions {
  readonly tls: { readonly cert: string; readonly key: string };
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns why a change is refused; undefined: allowed. */
  readonly decide: (request: AdmissionRequest) => string | undefined;
}

/** A review contains an object twice, before and after; etcd stores at most 1.5 MiB each, Base64 included. */
const bodyLimit = 8 * 1024 * 1024;
/** All requests come from API servers: the number equals concurrent changes. */
const inFlightLimit = 512;
const deadlineMs = 3_000;

/** Creates an HTTPS server for admission reviews and GET /healthz. */
export function createWebhookServer(options: WebhookServerOptions): HttpServer {
  const { tls, clock, log, decide } = options;
  const routesAt = `POST ${webhookPath}`;
  const app = createGuardedServer({
    tls,
    clock,
    log,
    bodyLimit,
    inFlightLimit,
    deadlineMs,
    routesAt,
  });
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.post(webhookPath, { schema: { body: admissionReview } }, async ({ body: { request } }) =>
    reviewed(request.uid, decide(request)),
  );
  return app;
}
