import type { metricTable } from '../api/metrics.ts';
import { createHttpServer, listen } from '../http/server.ts';
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
  const { registry } = metrics;
  const app = await createHttpServer({ title: 'MultiNIC inventory', log, health, registry });
  serveInventory(app, { store, tokens, unavailable });
  const { url } = await listen(app, settings.inventoryListen, signal);
  log.info({ url }, 'inventory serves');
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => stopped.resolve(), { once: true });
  if (!signal.aborted) await stopped.promise;
  await app.close();
}
