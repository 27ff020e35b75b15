import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from './app.ts';
import type { DescribedRoute, DocsServer } from './docs-server.ts';

/**
 * Serves /openapi.json, /openapi.yaml and /docs. The docs server is loaded at the first request: it takes 10 MB, and
 * most processes never need it.
 */
export function describeApi(app: HttpServer, title: string): void {
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', (route) => {
    // Fastify adds a HEAD route for every GET route, in the docs server as well.
    if (route.schema?.hide !== true && route.method !== 'HEAD') routes.push(route);
  });

  let loaded: Promise<DocsServer> | undefined;
  async function load(): Promise<DocsServer> {
    const { createDocsServer } = await import('./docs-server.ts');
    return createDocsServer(title, routes);
  }

  async function answer({ url, headers }: FastifyRequest, reply: FastifyReply) {
    loaded ??= load();
    const response = await (await loaded).inject({ url, headers });
    return reply.code(response.statusCode).headers(response.headers).send(response.rawPayload);
  }
  for (const url of ['/openapi.json', '/openapi.yaml', '/docs', '/docs/*']) {
    app.get(url, { schema: { hide: true } }, answer);
  }
}
