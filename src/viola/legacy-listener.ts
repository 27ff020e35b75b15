import { nodeConfigsPath, providerHeader } from '../api/node-configs-http.ts';
import type { Reason } from '../api/reasons.ts';
import type { AccessLogOptions } from '../http/access-log.ts';
import type { Admit } from '../http/admission.ts';
import type { HttpServer } from '../http/app.ts';
import { isIn, type Network, networkIn } from '../http/networks.ts';
import { HttpProblem } from '../http/problem.ts';
import { createGuardedServer } from '../http/server.ts';
import { usable } from './admit.ts';
import type { Clusters } from './clusters.ts';
import { type PostDeps, servePost } from './post-route.ts';
import type { ViolaSettings } from './settings.ts';

/** Where the deployed operator is listened to, which sends no token, and from where. */
export interface LegacyListener {
  readonly listen: { readonly host: string; readonly port: number };
  readonly networks: readonly Network[];
  /** As people wrote them. */
  readonly allowFrom: readonly string[];
}

type LegacySettings = Pick<ViolaSettings, 'listen' | 'legacyListener' | 'legacyAllowFrom'>;

/** Undefined when there is none; throws when the settings do not go together. */
export function legacyListenerOf(settings: LegacySettings): LegacyListener | undefined {
  const { listen, legacyListener, legacyAllowFrom: allowFrom } = settings;
  if (!legacyListener && allowFrom.length === 0) return undefined;
  if (!legacyListener || allowFrom.length === 0) {
    throw new Error('--legacy-listener and --legacy-allow-from go together');
  }
  if (legacyListener.port === listen.port && listen.port !== 0) {
    throw new Error(
      `--legacy-listener has the port of --listen (${listen.port}): plain HTTP without a token needs one of its own`,
    );
  }
  const networks = allowFrom.map(networkIn).filter((one) => typeof one !== 'string');
  return { listen: legacyListener, networks, allowFrom };
}

/** A listener that takes node configs without a token, and nothing else. */
export function createLegacyServer(
  { networks }: LegacyListener,
  deps: PostDeps,
  log: AccessLogOptions,
): HttpServer {
  const routesAt = `this listener takes POST ${nodeConfigsPath} and nothing else; use the address of --listen, with a token`;
  const app = createGuardedServer({ ...log, routesAt });
  // That operator takes every 2xx for all nodes, whatever it says of itself.
  servePost(app, deps, { admit: admitFrom(networks, deps.clusters), readsResults: false });
  return app;
}

/** Lets callers through by the address of their socket alone: a header says what its sender wants. */
function admitFrom(networks: readonly Network[], clusters: Clusters): Admit {
  return async ({ socket, headers }) => {
    // A dual-stack socket shows IPv4 as ::ffff:10.0.0.7, which --legacy-allow-from refuses as a network.
    const address = (socket.remoteAddress ?? 'unknown').replace(/^::ffff:(?=.*\.)/, '');
    if (!networks.some((network) => isIn(network, address))) {
      const detail = `${address} is not in --legacy-allow-from; add its network there, or use the address of --listen with a token`;
      throw new HttpProblem(403, 'AddressDenied', detail);
    }
    const header = headers[providerHeader];
    const provider = typeof header === 'string' ? header.trim() : '';
    if (provider === '') {
      throw new HttpProblem(400, 'ProviderRequired', `send ${providerHeader}: <id of the cluster>`);
    }
    await clusters.use(provider, async (lookup) => usable(provider, lookup));
    return { name: 'legacy', providers: ['*'], provider };
  };
}

/** How it is told, wherever it is told that the listener is there. */
export function legacyCondition({ allowFrom }: Pick<LegacyListener, 'allowFrom'>) {
  const reason = 'LegacyListener' satisfies Reason;
  const message = `node configs are taken without a token from ${allowFrom.join(', ')}; switch --legacy-listener off when the deployed operator is gone`;
  return { type: 'LegacyListener', status: 'True', reason, message } as const;
}

/** Networks that hold everybody: allowed, and hardly meant. */
export function openToAll({ networks, allowFrom }: LegacyListener): readonly string[] {
  return allowFrom.filter((_, at) => networks[at]?.prefix === 0);
}
