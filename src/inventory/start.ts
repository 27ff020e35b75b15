import type { metricTable } from '../api/metrics.ts';
import { apiAccess } from '../http/api-settings.ts';
import type { HttpServer } from '../http/app.ts';
import { certificateFilesOf, followCertificate, readCertificate } from '../http/certificate.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { openTokenFile, type TokenFile } from '../http/token-file.ts';
import { operatorVerbs } from '../http/who-may.ts';
import type { PartContext } from '../process/part.ts';
import { type InventoryDeps, serveInventory } from './routes.ts';
import type { InventorySettings } from './settings.ts';

export interface InventoryStart {
  readonly store: InventoryDeps['store'];
  /** Returns why the records may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
  /** Adds further routes on the inventory's address, for callers with these tokens; undefined: loopback callers only. */
  readonly serveMore?: (app: HttpServer, tokens: TokenFile | undefined) => void;
}

/** Serves the inventory until the signal aborts, unless disabled. */
export async function startInventory(
  settings: InventorySettings,
  { clock, log, health, metrics, about }: PartContext<typeof metricTable>,
  { store, unavailable, serveMore }: InventoryStart,
  signal: AbortSignal,
): Promise<void> {
  if (!settings.inventoryEnabled) return aborted(signal);
  const access = apiAccess(settings, {
    name: 'inventory',
    listen: settings.inventoryListen,
    tokensFile: settings.inventoryTokensFile,
    tlsCert: settings.inventoryTlsCert,
    tlsKey: settings.inventoryTlsKey,
    plainHttp: settings.inventoryPlainHttp,
  });
  const file = access.tokensFile;
  const onRead = (usable: boolean) =>
    metrics.set('multinic_token_file_usable', { server: 'inventory' }, usable ? 1 : 0);
  const tokens =
    file === undefined
      ? undefined
      : await openTokenFile(file, { clock, log, health, onRead, verbs: operatorVerbs });
  const files = certificateFilesOf(access.tls);
  const tls = files && (await readCertificate(files));
  const app = await createHttpServer({
    title: 'MultiNIC inventory',
    clock,
    log,
    health,
    registry: metrics.registry,
    about,
    guardsHost: true,
    ...(tls ? { tls } : {}),
    onAnswer: ({ method, route, status, seconds }) => {
      const labels = { server: 'inventory', method, route };
      metrics.count('multinic_http_requests_total', { ...labels, status: String(status) });
      metrics.observe('multinic_http_request_duration_seconds', labels, seconds);
    },
  });
  serveInventory(app, { store, tokens, unavailable });
  serveMore?.(app, tokens);
  const { url } = await listen(app, settings.inventoryListen, signal);
  log.info({ url }, 'inventory serving');
  if (files && tls) await followCertificate(app, files, { first: tls, clock, log }, signal);
  else await aborted(signal);
  await app.close();
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise;
}
