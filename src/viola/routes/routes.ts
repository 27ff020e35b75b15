import type { HttpServer } from '../../http/app.ts';
import type { TokenFile } from '../../http/token-file.ts';
import { admitAny, admitTo } from '../access/admit.ts';
import { serveCheck } from './check-route.ts';
import { type ClustersDeps, serveClusters } from './clusters-route.ts';
import { serveDryRun } from './dry-run-route.ts';
import { serveList } from './list-route.ts';
import { serveDeletion, serveNode } from './node-routes.ts';
import { servePost } from './post-route.ts';

export interface ViolaDeps extends ClustersDeps {
  readonly tokens: TokenFile;
}

/** Registers Viola's routes; admission reads only the request head. */
export function serveViola(app: HttpServer, deps: ViolaDeps): void {
  const mayRead = { admit: admitTo(deps, 'read') };
  const mayWrite = { admit: admitTo(deps, 'write') };

  servePost(app, deps, { ...mayWrite, readsResults: true });
  serveDryRun(app, deps, mayWrite);
  serveCheck(app, deps, mayWrite);
  serveList(app, deps, mayRead);
  serveNode(app, deps, mayRead);
  serveDeletion(app, deps, { admit: admitTo(deps, 'delete') });
  serveClusters(app, deps, { admit: admitAny(deps) });
}
