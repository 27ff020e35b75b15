import { listen } from '../http/server.ts';
import { LocalAccess } from './access/local-access.ts';
import { createPageServer, type PageContent, type PageContext } from './page-server.ts';

/** Only programs on this machine connect. */
const host = '127.0.0.1';

export interface LocalDashboardOptions<Rights> extends PageContent<Rights> {
  /** 0: a free port. */
  readonly port: number;
  /** The rights that all logged-in browsers get. */
  readonly rights: Rights;
}

/** The dashboard on the user's own machine, with the user's own rights. */
export interface LocalDashboard extends AsyncDisposable {
  /** URL without a token. */
  readonly url: string;
  /** Returns a link for a single login within 60 s. The fragment with the token never leaves the browser. */
  newLink(): string;
}

/** Serves the page until the signal aborts or the dashboard is disposed. Throws if the port is taken. */
export async function openLocalDashboard<Rights>(
  { port, rights, ...content }: LocalDashboardOptions<Rights>,
  context: PageContext,
  signal: AbortSignal,
): Promise<LocalDashboard> {
  const access = new LocalAccess(rights, context.clock);
  const app = createPageServer(access, content, context);
  const { url } = await listen(app, { host, port }, signal);
  return {
    url,
    newLink: () => `${url}/#token=${access.newToken()}`,
    [Symbol.asyncDispose]: async () => app.close(),
  };
}
