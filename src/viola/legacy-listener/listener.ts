import { nodeConfigsPath, providerHeader } from '../../api/node-configs-http.ts';
import type { Reason } from '../../api/reasons.ts';
import type { AccessLogOptions } from '../../http/access-log.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { isIn, type Network, networkIn } from '../../http/networks.ts';
import { HttpProblem } from '../../http/problem.ts';
import { createGuardedServer } from '../../http/server.ts';
import { providerRequired, usable } from '../access/admit.ts';
import type { Clusters } from '../clusters/clusters.ts';
import { type PostDeps, servePost } from '../routes/post-route.ts';
import type { ViolaSettings } from '../settings.ts';

/** Listen address and allowed networks for the legacy operator, which sends no token. */
export interface LegacyListener {
  readonly listen: { readonly host: string; readonly port: number };
  readonly networks: readonly Network[];
  /** Networks as written by the user. */
  readonly allowFrom: readonly string[];
}

type LegacySettings = Pick<ViolaSettings, 'listen' | 'legacyListener' | 'legacyAllowFrom'>;

/** Returns the legacy listener; undefined: not set. Throws if a single setting is set. */
export function legacyListenerOf(settings: LegacySettings): LegacyListener | undefined {
  const { listen, legacyListener, legacyAllowFrom: allowFrom } = settings;
  if (!legacyListener && allowFrom.length === 0) return undefined;
  if (!legacyListener || allowFrom.length === 0) {
    throw new Error(
      '--legacy-listener and --legacy-allow-from must be set together; set both or none',
    );
  }
  if (legacyListener.port === listen.port && listen.port !== 0) {
    throw new Error(
      `--legacy-listener has the same port as --listen (${listen.port}); set another port`,
    );
  }
  const networks = allowFrom.map(networkIn).filter((one) => typeof one !== 'string');
  return { listen: legacyListener, networks, allowFrom };
}

/** Creates a listener that accepts only node configs, without a token. */
export function createLegacyServer(
  { networks }: LegacyListener,
  deps: PostDeps,
  log: AccessLogOptions,
): HttpServer {
  const routesAt = `this listener accepts only POST ${nodeConfigsPath}; for other requests use the address of --listen, with a token`;
  const app = createGuardedServer({ ...log, routesAt });
  // The legacy operator reads no results per node: a 2xx means success for all nodes, even with the header Prefer.
  servePost(app, deps, { admit: admitFrom(networks, deps.clusters), readsResults: false });
  return app;
}

/** Admits callers by socket address only: a caller can forge every header, such as X-Forwarded-For. */
function admitFrom(networks: readonly Network[], clusters: Clusters): Admit {
  return async ({ socket, headers }) => {
    // A dual-stack socket reports IPv4 as ::ffff:10.0.0.7, a form that --legacy-allow-from refuses as a network.
    const address = (socket.remoteAddress ?? 'unknown').replace(/^::ffff:(?=.*\.)/, '');
    if (!networks.some((network) => isIn(network, address))) {
      const detail = `${address} is not in --legacy-allow-from; add its network there, or use the address of --listen with a token`;
      throw new HttpProblem(403, 'AddressDenied', detail);
    }
    const header = headers[providerHeader];
    const provider = typeof header === 'string' ? header.trim() : '';
    if (provider === '') {
      throw providerRequired();
    }
    await clusters.use(provider, async (lookup) => usable(provider, lookup));
    return { name: 'legacy', providers: ['*'], provider };
  };
}

/** Returns the condition that reports an active legacy listener. */
export function legacyCondition({ allowFrom }: Pick<LegacyListener, 'allowFrom'>) {
  const reason = 'LegacyListener' satisfies Reason;
  const message = `Viola accepts node configs without a token from ${allowFrom.join(', ')}; unset --legacy-listener once the legacy operator is removed`;
  return { type: 'LegacyListener', status: 'True', reason, message } as const;
}

/** Returns allowed networks with every address, such as 0.0.0.0/0; Viola logs a warning. */
export function openToAll({ networks, allowFrom }: LegacyListener): readonly string[] {
  return allowFrom.filter((_, at) => networks[at]?.prefix === 0);
}
