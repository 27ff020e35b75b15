import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from './app.ts';
import type { DescribedRoute, DocsServer } from './docs-server.ts';

/**
 * /openapi.json, /openapi.yaml and /docs. Who answers them is loaded when somebody asks for the first time: it takes
 * 10 MB, and most processes are never asked.
 */
export function describeApi(app: HttpServer, title: string): void {
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', (route) => {
    // Fastify makes a HEAD route of every GET by itself, there as here.
    if (route.schema?.hide !== true && route.method !== 'HEAD') routes.push(route);
  });

  let loaded: Promise<DocsServer> | undefined;
  async function load(): Promise<DocsServer> {
    const { createDocsServer } = await import('./docs-server.ts');
    return createDocsServer(title, routes);
  }

  async function answer({ url, headers }: FastifyRequest, reply: FastifyReply) {
    loaded ??= load();
    const given = await (await loaded).inject({ url, headers });
    return reply.code(given.statusCode).headers(given.headers).send(given.rawPayload);
  }
  for (const url of ['/openapi.json', '/openapi.yaml', '/docs', '/docs/*']) {
    app.get(url, { schema: { hide: true } }, answer);
  }
}
