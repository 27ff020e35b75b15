import type { metricTable } from '../api/metrics.ts';
import type { Logger } from '../process/log.ts';
import type { PartContext } from '../process/part.ts';
import { openCaBundle } from '../requests/ca-bundle.ts';
import type { MariadbTls } from '../store/mariadb-access.ts';
import { Store, type StoreLocation } from '../store/store.ts';
import type { OperatorSettings } from './model/settings/operator.ts';

type Context = Pick<PartContext<typeof metricTable>, 'clock' | 'log' | 'metrics'>;

/** Opens the inventory's database; damaged SQLite files are replaced. Throws if a file for TLS is unusable. */
export async function openStore(
  settings: OperatorSettings,
  { clock, log, metrics }: Context,
): Promise<Store> {
  const tls = await mariadbTls(settings, log);
  const store = await Store.open(locationOf(settings, tls), {
    now: () => clock.now(),
    onRebuilt: (movedTo, cause) =>
      log.error({ movedTo, err: cause }, 'damaged inventory file replaced by a new one'),
    onReplaced: (path) =>
      log.error({ path }, 'inventory file was removed or replaced, path opened again'),
  });
  metrics.sample('multinic_active_db_connections', {}, () => store.active);
  return store;
}

/**
 * Returns the TLS options for MariaDB; undefined: neither DB_TLS nor DB_CA_FILE is set. Throws if the file is
 * unusable.
 */
async function mariadbTls(
  { dbTls, dbCaFile }: Pick<OperatorSettings, 'dbTls' | 'dbCaFile'>,
  log: Logger,
): Promise<MariadbTls | undefined> {
  if (dbCaFile === undefined) return dbTls ? { ca: undefined } : undefined;
  const bundle = await openCaBundle(dbCaFile, log);
  let latest = await bundle();
  return {
    // The driver cannot wait for the file: a changed file is used from the next connection on.
    get ca() {
      void bundle().then((ca) => {
        latest = ca;
      });
      return latest;
    },
  };
}

function locationOf(settings: OperatorSettings, tls: MariadbTls | undefined): StoreLocation {
  const {
    dbHost,
    dbPort: port,
    dbUser: user,
    dbPassword: password = '',
    dbName: database,
  } = settings;
  return dbHost === undefined
    ? { kind: 'sqlite', path: settings.inventoryDbPath }
    : { kind: 'mariadb', host: dbHost, port, user, password, database, tls };
}
