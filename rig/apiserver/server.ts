import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, type Random, systemClock, systemRandom } from '../../src/process/clock.ts';
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
import { handle } from './http/router.ts';
import type { WatchStream } from './http/watch-stream.ts';
import { kubeconfig } from './kubeconfig.ts';
import type { KubeObject } from './objects/object.ts';

export interface ApiServerOptions {
  /** TCP port on loopback; 0 (the default) takes a free one. */
  readonly port?: number;
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
  readonly token: () => Promise<string>;
}

export interface ApiServer extends AsyncDisposable {
  readonly url: string;
  /** The administrator's access, a member of system:masters. */
  readonly access: Access;
  /** Access of another user; what it may do is decided by the stored roles and bindings. */
  accessAs(user: string, groups?: readonly string[]): Access;
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

/** Starts a Kubernetes API server in this process; rejects with a sentence when the port is taken. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const { clock = systemClock, random = systemRandom, port = 0 } = options;
  const cluster = createCluster({ clock, random, watchHistory: options.watchHistory ?? 10_000 });
  const stopped = new AbortController();
  startControllers(cluster, stopped.signal);
  bootstrap(cluster, options.crds ?? []);

  const tokens = new TokenTable();
  for (const token of options.tokens ?? []) tokens.add(token);
  const watches = new Set<WatchStream>();
  const faults = new Faults(watches, () => cluster.storage.compact());
  const audit = new AuditLog();
  const { bookmarkMs = 5000 } = options;
  const routes = { cluster, tokens, faults, audit, watches, bookmarkMs };
  const server = createServer((request, response) => void handle(routes, request, response));
  // As long as Go's default, so that a client's idle connection is not cut while it is being used again.
  server.keepAliveTimeout = 180_000;
  const url = await listen(server, port);

  function accessAs(user: string, groups: readonly string[] = []): Access {
    const token = randomBytes(16).toString('hex');
    tokens.add({ token, user, groups });
    return { server: url, token: () => Promise.resolve(token) };
  }
  async function close(): Promise<void> {
    stopped.abort(new Error('the server is being closed'));
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }
  const access = accessAs('kubernetes-admin', [mastersGroup]);
  return {
    url,
    access,
    accessAs,
    kubeconfig: async (of = access) => kubeconfig(url, await of.token()),
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

async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    const taken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const why = taken ? 'is in use; choose another one or 0 for any free port' : 'cannot be opened';
    throw new Error(`port ${port} on 127.0.0.1 ${why}`, { cause });
  }
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
