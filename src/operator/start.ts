import type { metricTable } from '../api/metrics.ts';
import type { HttpServer } from '../http/app.ts';
import type { TokenFile } from '../http/token-file.ts';
import { claimsOf } from '../kube/rights.ts';
import type { OnLookup } from '../openstack/cloud.ts';
import { createClouds } from '../openstack/clouds.ts';
import type { PartContext } from '../process/part.ts';
import { openCaBundle, systemAuthorities } from '../requests/ca-bundle.ts';
import { type PartBase, runPart, type Wiring } from '../runtime/part.ts';
import type { Store } from '../store/store.ts';
import { openCredentials } from './clusters/access/credentials.ts';
import { createDeliveryRecords } from './clusters/deliver/legacy/delivery-records.ts';
import { createViolas } from './clusters/deliver/violas.ts';
import { startTriggerServer } from './flow/triggers/server/start.ts';
import { rulesOf } from './model/resolve/policy.ts';
import type { OperatorSettings } from './model/settings/operator.ts';
import { openStore } from './open-store.ts';
import { countRequest } from './report/metrics/metrics.ts';
import { definitionOf, leaseName, neededRights, operatorRights, placesOf } from './rights.ts';
import { serveEvents } from './serve/events/routes.ts';
import { createReadSources } from './serve/read-api/read-sources.ts';
import { serveReads } from './serve/read-api/routes.ts';
import { servePlans } from './serve/what-if/routes.ts';
import { wireOperator } from './wiring.ts';

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
  context: PartContext<typeof metricTable>,
  signal: AbortSignal,
  serveInventory?: ServeInventory,
): Promise<void> {
  const { kubeconfig, listen, leaseDurationMs: durationMs, namespace } = settings;
  const claims = claimsOf(neededRights(settings), placesOf(settings));
  const part = {
    name: 'operator',
    component: 'multinic-operator',
    title: 'MultiNIC operator',
    kubeconfig,
    listen,
    rights: { table: operatorRights, claims },
    definition: definitionOf(settings),
    election: { part: 'operator', namespace, name: leaseName, durationMs },
  } as const;
  const wire = async (base: PartBase) => wireAll(settings, base, serveInventory);
  await runPart({ ...part, wire }, context, signal);
}

/** Opens the store and the connections, and wires controller, triggers and inventory. */
async function wireAll(
  settings: OperatorSettings,
  base: PartBase,
  serveInventory: ServeInventory | undefined,
): Promise<Wiring> {
  const { client, perform, context, resources } = base;
  const { clock, random, log, metrics } = context;
  const authoritiesOf = async (path: string | undefined) =>
    path === undefined ? systemAuthorities : openCaBundle(path, log);
  const authorities = {
    contrabass: await authoritiesOf(settings.contrabassCaFile),
    openstack: await authoritiesOf(settings.openstackCaFile),
  };
  const rules = rulesOf(settings);
  const onLookup: OnLookup = (cache, isHit) =>
    metrics.count('multinic_cache_lookups_total', { cache, result: isHit ? 'hit' : 'miss' });
  const clouds = resources.use(
    createClouds({
      clock,
      random,
      log,
      onLookup,
      onRequest: (sample) => countRequest(metrics, sample),
      onRecovered: () => operator.wake(),
      ...rules,
    }),
  );
  const credentials = await openCredentials(settings, { client, perform, ...context });
  const store = resources.use(await openStore(settings, context));
  const records = createDeliveryRecords({ store, perform, clock });
  const violas = resources.use(
    createViolas(
      { ...settings, ...credentials },
      { clock, random, log, records, isTrusted: rules.isTrusted },
    ),
  );
  const operator = wireOperator({ ...base, settings, store, clouds, violas, authorities });
  let leads = false;
  const leaseEnds: (() => void)[] = [];
  const onLeaseLost = (end: () => void) => void leaseEnds.push(end);
  const unavailable = () => (leads ? undefined : 'another replica of the operator leads');
  const serveMore: ServedInventory['serveMore'] = (api, tokens) => {
    const sources = createReadSources(operator.reads);
    serveReads(api, { sources, tokens, unavailable });
    serveEvents(api, { sources, tokens, unavailable, random, log, onLeaseLost });
    servePlans(api, { ...operator.planRoutes, tokens, unavailable });
  };
  const inventory = async (end: AbortSignal) =>
    serveInventory?.({ store, unavailable, serveMore }, end);
  const { allowedNamespaces } = settings;
  const requests = { client, perform, allowedNamespaces };
  return {
    readiness: { watches: operator.controllers.notReady },
    lead: async (leading) => credentials.during(leading, operator.lead),
    onLease: (isLeading) => {
      leads = isLeading;
      if (!isLeading) for (const end of leaseEnds) end();
    },
    tasks: {
      triggers: async (end) => startTriggerServer(settings, requests, context, end),
      ...(serveInventory && { inventory }),
    },
  };
}
