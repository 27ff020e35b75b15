import type { metricTable } from '../api/metrics.ts';
import { apiAccess } from '../http/api-settings.ts';
import type { HttpServer } from '../http/app.ts';
import { certificateFilesOf } from '../http/certificate.ts';
import { openTokenFile, type TokenFile } from '../http/token-file.ts';
import { operatorVerbs } from '../http/who-may.ts';
import type { PartContext } from '../process/part.ts';
import { ApiServer } from '../runtime/api-server.ts';
import { aborted } from '../time/aborted.ts';
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
  context: PartContext<typeof metricTable>,
  { store, unavailable, serveMore }: InventoryStart,
  signal: AbortSignal,
): Promise<void> {
  if (!settings.inventoryEnabled) return aborted(signal);
  const { clock, log, health, metrics } = context;
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
  await using server = await ApiServer.open(
    {
      title: 'MultiNIC inventory',
      name: 'inventory',
      address: settings.inventoryListen,
      files: certificateFilesOf(access.tls),
      guardsHost: true,
    },
    context,
  );
  serveInventory(server.app, { store, tokens, unavailable });
  serveMore?.(server.app, tokens);
  const url = await server.listen(signal);
  log.info({ url }, 'inventory serving');
  await server.followCertificate(signal);
}
