import { randomBytes } from 'node:crypto';
import { type Clock, type Random, systemClock, systemRandom } from '../../src/time/clock.ts';
import { type AuditEntry, AuditLog } from './audit.ts';
import { bootstrap } from './bootstrap.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { garbageCollector } from './controllers/garbage-collector.ts';
import { jobController } from './controllers/jobs.ts';
import { runController } from './controllers/loop.ts';
import { definitionController, namespaceController } from './controllers/namespaces.ts';
import { scheduler } from './controllers/scheduler.ts';
import { Faults } from './faults.ts';
import { mastersGroup, type Token, TokenTable } from './http/authentication.ts';
import { loopbackCertificate } from './http/certificate.ts';
import { openListener } from './http/listener.ts';
import { handle } from './http/router.ts';
import { type TokenLife, tokenText } from './http/token-request.ts';
import type { WatchStream } from './http/watch-stream.ts';
import { kubeconfig } from './kubeconfig.ts';
import type { KubeObject } from './objects/object.ts';

export interface ApiServerOptions {
  /** TCP port on loopback; 0 (the default) takes a free one. */
  readonly port?: number;
  /** Serves HTTPS with a certificate of its own; kubectl sends a token to no other server. */
  readonly tls?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Tokens beside the administrator's. */
  readonly tokens?: readonly Token[];
  /** CustomResourceDefinitions that are served from the start. */
  readonly crds?: readonly object[];
  /** Changes kept for watches and pages (default 10,000). */
  readonly watchHistory?: number;
  /** Milliseconds between bookmarks (default 5,000; a real server sends one a minute). */
  readonly bookmarkMs?: number;
}

/** Where the server is and with which token; a `ClusterAccess` of the Kubernetes client. */
export interface Access {
  readonly server: string;
  /** PEM; there with HTTPS. */
  readonly ca?: string;
  readonly token: () => Promise<string>;
}

export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  /** The administrator's access, a member of system:masters. */
  readonly access: Access;
  /** Access of another user; what it may do is decided by the stored roles and bindings. A token says its life if it has one. */
  accessAs(user: string, groups?: readonly string[], life?: TokenLife): Access;
  /** A kubeconfig for an access, the administrator's unless told otherwise. */
  kubeconfig(access?: Access): Promise<string>;
  readonly faults: Faults;
  /** Every answered request to a resource, oldest first. */
  readonly audit: readonly AuditEntry[];
  /** What is stored of a kind ("jobs.batch", "pods"), for assertions. */
  objects(resource: string, namespace?: string): readonly KubeObject[];
  /** Ends every connection and controller. */
  close(): Promise<void>;
}

const defaults = {
  port: 0,
  tls: false,
  clock: systemClock,
  random: systemRandom,
  tokens: [],
  crds: [],
  watchHistory: 10_000,
  bookmarkMs: 5000,
} as const;

/** Starts a Kubernetes API server in this process; rejects with a sentence when the port is taken. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const { port, tls, clock, bookmarkMs, ...rest } = { ...defaults, ...options };
  const cluster = createCluster({ clock, ...rest });
  bootstrap(cluster, rest.crds);
  const tokens = new TokenTable();
  for (const token of rest.tokens) tokens.add(token);
  const watches = new Set<WatchStream>();
  const faults = new Faults(watches, () => cluster.storage.compact());
  const audit = new AuditLog();
  const routes = { cluster, tokens, faults, audit, watches, bookmarkMs };
  const certificate = tls ? loopbackCertificate(clock.now()) : undefined;
  const listener = await openListener(port, certificate, (request, response) => {
    void handle(routes, request, response);
  });
  const stopped = new AbortController();
  startControllers(cluster, stopped.signal);

  function accessAs(user: string, groups: readonly string[] = [], life?: TokenLife): Access {
    const token = life ? tokenText(user, life) : randomBytes(16).toString('hex');
    tokens.add({ token, user, groups });
    const trust = listener.ca === undefined ? {} : { ca: listener.ca };
    return { server: listener.url, ...trust, token: () => Promise.resolve(token) };
  }
  async function close(): Promise<void> {
    if (stopped.signal.aborted) return;
    stopped.abort(new Error('the server is being closed'));
    await listener.close();
  }
  const access = accessAs('kubernetes-admin', [mastersGroup]);
  return {
    url: listener.url,
    access,
    accessAs,
    kubeconfig: async (of = access) => kubeconfig(of.server, of.ca, await of.token()),
    faults,
    audit: audit.entries,
    objects: (resource, namespace) => cluster.storage.list(resource, namespace),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function startControllers(cluster: Cluster, signal: AbortSignal): void {
  const controllers = [
    namespaceController,
    definitionController,
    garbageCollector,
    jobController,
    scheduler,
  ];
  for (const controller of controllers) runController(cluster, controller(cluster), signal);
}
