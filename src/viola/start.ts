import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import { labels } from '../api/names.ts';
import type { HttpServer } from '../http/app.ts';
import {
  type Certificate,
  certificateFilesOf,
  followCertificate,
  readCertificate,
} from '../http/certificate.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { openTokenFile } from '../http/token-file.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { createReflector } from '../kube/cache/reflector.ts';
import { Store } from '../kube/cache/store.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { type Secret, secrets } from '../kube/core-resources.ts';
import { claimsOf } from '../kube/rights.ts';
import { createPerform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import { AnswerCache } from './answer-cache.ts';
import { ClusterRights } from './cluster-rights.ts';
import { Clusters } from './clusters.ts';
import { placesOf, violaRights } from './rights.ts';
import { serveViola } from './routes.ts';
import type { ViolaSettings } from './settings.ts';
import { renewTokens } from './token-renewal.ts';

type Context = PartContext<typeof metricTable>;

/** Runs Viola until the signal aborts: the registry of business clusters and the HTTP API over them. */
export async function startViola(
  settings: ViolaSettings,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, health, metrics } = context;
  const tokens = await openTokenFile(settings.tokenFile, {
    clock,
    log,
    health,
    onRead: (usable) =>
      metrics.set('multinic_token_file_usable', { server: 'viola' }, usable ? 1 : 0),
  });
  const files = certificateFilesOf({
    listen: settings.listen,
    certFile: settings.tlsCert,
    keyFile: settings.tlsKey,
    plainHttp: settings.plainHttp,
  });
  const tls = files && (await readCertificate(files));
  const app = await makeServer(tls, context);
  const access = settings.kubeconfig
    ? await loadKubeconfig(settings.kubeconfig)
    : await inCluster();
  await using management = createKubeClient(access, { clock, random, userAgent: 'multinic-viola' });
  const store = new Store<Secret>();
  const reflector = createReflector({
    client: management,
    resource: secrets,
    namespace: settings.registrationsNamespace,
    labelSelector: labels.providerId,
    store,
    clock,
    random,
    onError: (error, retryInMs) =>
      log.warn({ err: error, retryInMs }, 'cannot read the registered business clusters'),
  });
  let listed = false;
  void reflector.synced.then(() => {
    listed = true;
  });
  health.ready('clusters', () =>
    listed ? undefined : 'the registered business clusters are not read yet',
  );
  await using clusters = new Clusters({
    secrets: store,
    listed: () => listed,
    log,
    connect: (registration) =>
      createKubeClient(registration.access, {
        clock,
        random,
        userAgent: 'multinic-viola',
        timeoutMs: settings.clusterTimeout,
      }),
  });
  const selfCheck = createSelfCheck({
    client: management,
    context,
    component: 'viola',
    table: violaRights,
    claims: claimsOf(violaRights.rights, placesOf(settings, context.pod?.namespace)),
  });
  const rights = selfCheck && new ClusterRights({ clusters, context });
  const perform = createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'effect'));
  serveViola(app, {
    clusters,
    rights,
    tokens,
    cache: new AnswerCache(clock, settings.cacheFor),
    clock,
    perform,
    acceptUnfenced: settings.acceptUnfenced,
    takeOver: settings.takeOver,
    parallel: settings.parallel,
  });
  const reading = reflector.run(signal);
  const { url } = await listen(app, settings.listen, signal);
  log.info({ url }, 'viola serves');
  const following =
    files && tls && followCertificate(app, files, { first: tls, clock, log }, signal);
  const registered = { secrets: store, listed: () => listed, clusters, management };
  const renewing = renewTokens({ ...registered, perform, clock, log }, signal);
  await Promise.all([reading, following, selfCheck?.(signal), rights?.run(signal), renewing]);
  await app.close();
}

async function makeServer(
  tls: Certificate | undefined,
  { clock, log, health, metrics, about }: Context,
): Promise<HttpServer> {
  return createHttpServer({
    title: 'Viola',
    clock,
    log,
    health,
    registry: metrics.registry,
    about,
    ...(tls ? { tls } : {}),
    onAnswer: ({ method, route, status, seconds }) => {
      const asked = { server: 'viola', method, route };
      metrics.count('multinic_http_requests_total', { ...asked, status: String(status) });
      metrics.observe('multinic_http_request_duration_seconds', asked, seconds);
    },
  });
}
