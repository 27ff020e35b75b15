import { readFile } from 'node:fs/promises';
import type { metricTable } from '../api/metrics.ts';
import { createHttpServer, type HttpServerOptions, listen } from '../http/server.ts';
import { openTokenFile } from '../http/token-file.ts';
import type { PartContext } from '../process/part.ts';
import type { Store } from '../store/store.ts';
import { serveInventory } from './routes.ts';
import type { InventorySettings } from './settings.ts';

export interface InventoryStart {
  readonly store: Pick<Store, 'list'>;
  /** Why the records cannot be trusted now; undefined: they can. */
  readonly unavailable: () => string | undefined;
}

/** Serves the inventory until the signal aborts. */
export async function startInventory(
  settings: InventorySettings,
  { log, health, metrics }: PartContext<typeof metricTable>,
  { store, unavailable }: InventoryStart,
  signal: AbortSignal,
): Promise<void> {
  if (!settings.inventoryEnabled) return;
  const file = settings.inventoryTokensFile;
  const tokens = file === undefined ? undefined : await openTokenFile(file, log);
  const app = await createHttpServer({
    title: 'MultiNIC inventory',
    log,
    health,
    registry: metrics.registry,
    ...(await tlsOf(settings)),
    onAnswer: ({ method, route, status, seconds }) => {
      const labels = { server: 'inventory', method, route };
      metrics.count('multinic_http_requests_total', { ...labels, status: String(status) });
      metrics.observe('multinic_http_request_duration_seconds', labels, seconds);
    },
  });
  serveInventory(app, { store, tokens, unavailable });
  const { url } = await listen(app, settings.inventoryListen, signal);
  log.info({ url }, 'inventory serves');
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => stopped.resolve(), { once: true });
  if (!signal.aborted) await stopped.promise;
  await app.close();
}

/** Certificate and key; none only on loopback, or when somebody said so. */
async function tlsOf(settings: InventorySettings): Promise<Pick<HttpServerOptions, 'tls'>> {
  const { inventoryTlsCert, inventoryTlsKey, inventoryPlainHttp } = settings;
  if (inventoryTlsCert !== undefined && inventoryTlsKey !== undefined) {
    const cert = await readFile(inventoryTlsCert, 'utf8');
    return { tls: { cert, key: await readFile(inventoryTlsKey, 'utf8') } };
  }
  const { host, port } = settings.inventoryListen;
  if (inventoryPlainHttp || /^(127\.|::1$|localhost$)/.test(host)) return {};
  throw new Error(
    `--inventory-listen ${host}:${port} is not loopback: give --inventory-tls-cert and --inventory-tls-key, or say --inventory-plain-http true when something else guards it`,
  );
}
