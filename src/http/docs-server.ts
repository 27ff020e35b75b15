import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { createApp, type HttpServer } from './app.ts';

export type DocsServer = Pick<HttpServer, 'inject'>;

/** Route properties the docs are generated from. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'schema'>;

/** Creates a server, never listening, with docs for these routes; all assets come from the package, no CDN. */
export async function createDocsServer(
  title: string,
  routes: readonly DescribedRoute[],
): Promise<DocsServer> {
  const app = createApp({ deadlineMs: 60_000 });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version: '1' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
    transform: jsonSchemaTransform,
  });
  await app.register(swaggerUi, { routePrefix: '/docs' });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  app.get('/openapi.yaml', { schema: { hide: true } }, async (_request, reply) => {
    return reply.type('application/yaml').send(app.swagger({ yaml: true }));
  });
  for (const { method, url, schema } of routes) {
    app.route({ method, url, ...(schema && { schema }), handler: () => undefined });
  }
  return app;
}
