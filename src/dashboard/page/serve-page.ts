import type { HttpServer } from '../../http/app.ts';
import { publicRoute } from '../guard/guard.ts';
import type { PageFile } from './page-files.ts';

/** Serves the page's files without login: the files hold no data. */
export function servePage(app: HttpServer, files: readonly PageFile[]): void {
  for (const { path, contentType, cacheControl, body } of files) {
    app.get(path, { config: publicRoute }, async (_request, reply) =>
      reply.header('cache-control', cacheControl).type(contentType).send(body),
    );
  }
}
