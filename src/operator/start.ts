import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { electionOf } from '../election.ts';
import type { HttpServer } from '../http/app.ts';
import { createHttpServer, listen } from '../http/server.ts';
import type { TokenFile } from '../http/token-file.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { runWithLease } from '../kube/lease/lease.ts';
import { createLeaseClient } from '../kube/lease/lease-client.ts';
import { together } from '../kube/reconcile/together.ts';
import { claimsOf } from '../kube/rights.ts';
import { countKubeRequests } from '../kube-metrics.ts';
import type { OnLookup } from '../openstack/cloud.ts';
import { createClouds } from '../openstack/clouds.ts';
import { createPerform } from '../process/effects.ts';
import type { Logger } from '../process/log.ts';
import type { PartContext } from '../process/part.ts';
import { openCaBundle, systemAuthorities } from '../requests/ca-bundle.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import type { MariadbTls } from '../store/mariadb-access.ts';
import { Store, type StoreLocation } from '../store/store.ts';
import { openCredentials } from './clusters/access/credentials.ts';
import { createDeliveryRecords } from './clusters/deliver/legacy/delivery-records.ts';
import { createViolas } from './clusters/deliver/violas.ts';
import { startTriggerServer } from './flow/triggers/server/start.ts';
import { createLoop } from './loop.ts';
import { rulesOf } from './model/resolve/policy.ts';
import type { OperatorSettings } from './model/settings/operator.ts';
import { countRequest } from './report/metrics/metrics.ts';
import { definitionOf, leaseName, neededRights, operatorRights, placesOf } from './rights.ts';
import { serveReads } from './serve/read-api/routes.ts';
import { servePlans } from './serve/what-if/routes.ts';

type Context = PartContext<typeof metricTable>;

/** The operator's store, for the inventory's HTTP server. */
interface ServedInventory {
  readonly store: Store;
  /** Returns why the records may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
  /** Adds the operator's own routes on the inventory's address. */
  readonly serveMore: (app: HttpServer, tokens: TokenFile | undefined) => void;
}

/**
 * Serves the inventory until the signal aborts. main passes this function in, because parts do not import
 * each other.
 */
type ServeInventory = (inventory: ServedInventory, signal: AbortSignal) => Promise<void>;

/**
 * Runs the operator until the signal aborts. One replica works; the rest wait for the lease. The inventory
 * runs in this process because SQLite has one writer.
 */
export async function startOperator(
  settings: OperatorSettings,
  context: Context,
  signal: AbortSignal,
  serveInventory?: ServeInventory,
): Promise<void> {
  const { clock, random, log, metrics, health } = context;
  const access = settings.kubeconfig
    ? await loadKubeconfig(settings.kubeconfig)
    : await inCluster();
  const authoritiesOf = async (path: string | undefined) =>
    path === undefined ? systemAuthorities : openCaBundle(path, log);
  const authorities = {
    contrabass: await authoritiesOf(settings.contrabassCaFile),
    openstack: await authoritiesOf(settings.openstackCaFile),
  };
  const { leaseDurationMs } = settings;
  const onKubeRequest = countKubeRequests(metrics);
  const identify = { clock, random, userAgent: 'multinic-operator', onRequest: onKubeRequest };
  await using client = createKubeClient(access, identify);
  await using leaseClient = createLeaseClient(access, { ...identify, leaseDurationMs });
  const onRequest = (sample: Parameters<typeof countRequest>[1]) => countRequest(metrics, sample);
  const onLookup: OnLookup = (cache, isHit) =>
    metrics.count('multinic_cache_lookups_total', { cache, result: isHit ? 'hit' : 'miss' });
  const rules = rulesOf(settings);
  const onRecovered = (): void => loop.wake();
  const observers = { onRequest, onLookup, onRecovered };
  await using clouds = createClouds({ clock, random, log, ...observers, ...rules });
  const perform = createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'effect'));
  const credentials = await openCredentials(settings, {
    client,
    perform,
    clock,
    random,
    log,
    metrics,
  });
  await using store = await openStore(settings, context);
  const records = createDeliveryRecords({ store, perform, clock });
  await using violas = createViolas(
    { ...settings, ...credentials },
    { clock, random, log, records, isTrusted: rules.isTrusted },
  );
  metrics.sample('multinic_active_db_connections', {}, () => store.active);
  const shared = { client, settings, context, perform, store, clouds, violas, authorities };
  const loop = createLoop({ ...shared, lifetime: signal });

  const { registry } = metrics;
  await using app = await createHttpServer({
    title: 'MultiNIC operator',
    clock,
    log,
    health,
    registry,
    about: context.about,
  });
  health.ready('openstackconfigs', loop.notReady);
  const selfCheck = createSelfCheck({
    client,
    context,
    component: 'multinic-operator',
    table: operatorRights,
    claims: claimsOf(neededRights(settings), placesOf(settings)),
    definition: definitionOf(settings),
  });
  const { url } = await listen(app, settings.listen, signal);
  log.info({ url, server: access.server }, 'operator started');

  let leads = false;
  const unavailable = () => (leads ? undefined : 'another replica of the operator leads');
  const serveMore: ServedInventory['serveMore'] = (api, tokens) => {
    serveReads(api, { deps: loop.reads, tokens, unavailable });
    servePlans(api, { ...loop.planRoutes, tokens, unavailable });
  };
  const election = electionOf({
    lease: { namespace: settings.namespace, name: leaseName },
    leaseDurationMs,
    client: aroundWrites(leaseClient, (write) => perform('operator.lease.write', write)),
    name: context.processName ?? 'operator',
    context,
    onChange: (isLeading) => {
      leads = isLeading;
    },
  });
  await together(signal, clock, {
    operator: async (both) =>
      runWithLease(election, both, async (leading) => credentials.during(leading, loop.run)),
    ...(selfCheck && { 'self-check': selfCheck }),
    triggers: async (both) => {
      const { allowedNamespaces } = settings;
      await startTriggerServer(settings, { client, perform, allowedNamespaces }, context, both);
    },
    ...(serveInventory && {
      inventory: async (both: AbortSignal) =>
        serveInventory({ store, unavailable, serveMore }, both),
    }),
  });
}

async function openStore(settings: OperatorSettings, { clock, log }: Context): Promise<Store> {
  const tls = await mariadbTls(settings, log);
  return Store.open(locationOf(settings, tls), {
    now: () => clock.now(),
    onRebuilt: (movedTo, cause) =>
      log.error({ movedTo, err: cause }, 'damaged inventory file replaced by a new one'),
    onReplaced: (path) =>
      log.error({ path }, 'inventory file was removed or replaced, path opened again'),
  });
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
