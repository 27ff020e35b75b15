import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import type { AnsweredRequest } from '../http/access-log.ts';
import type { HttpServer } from '../http/app.ts';
import {
  type Certificate,
  type CertificateFiles,
  certificateFilesOf,
  endOf,
  followCertificate,
  readCertificate,
} from '../http/certificate.ts';
import { createHttpServer, listen } from '../http/server.ts';
import { openTokenFile, type TokenFile } from '../http/token-file.ts';
import type { ClusterAccess } from '../kube/access/access.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { claimsOf } from '../kube/rights.ts';
import { createPerform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import { Clusters } from './clusters/clusters.ts';
import { openRegistrations } from './clusters/registrations.ts';
import { ClusterRights } from './clusters/rights-in-cluster.ts';
import {
  createLegacyServer,
  type LegacyListener,
  legacyCondition,
  legacyListenerOf,
} from './legacy-listener/listener.ts';
import { type LegacyWarningOptions, warnOfLegacyListener } from './legacy-listener/warning.ts';
import { placesOf, violaRights } from './rights.ts';
import { AnswerCache } from './routes/answer-cache.ts';
import type { PostDeps } from './routes/post-route.ts';
import { serveViola } from './routes/routes.ts';
import type { ViolaSettings } from './settings.ts';
import { renewTokens } from './tokens/token-renewal.ts';

/** Age up to which an answer is served again, unless the caller asks for a fresh one. */
const cacheForMs = 5_000;
/** Nodes of one request that are written at once. */
const parallel = 8;

type Context = PartContext<typeof metricTable>;

/** Runs Viola until the signal aborts: the cluster registry with its HTTP API. */
export async function startViola(
  settings: ViolaSettings,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log } = context;
  const tokens = await openTokens(settings.tokenFile, context);
  const files = servingFiles(settings);
  const legacy = legacyListenerOf(settings);
  const tls = files && { files, first: await readCertificate(files) };
  const app = await makeServer(tls?.first, context);
  const access = await accessOf(settings);
  await using management = createKubeClient(access, { clock, random, userAgent: 'multinic-viola' });
  const registrations = openRegistrations(management, settings.registrationsNamespace, context);
  await using clusters = new Clusters({
    ...registrations,
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
  const deps = {
    clusters,
    rights,
    tokens,
    cache: new AnswerCache(clock, cacheForMs),
    clock,
    perform,
    acceptUnfenced: settings.acceptUnfenced,
    takeOver: settings.takeOver,
    parallel,
  };
  serveViola(app, { ...deps, ...(legacy && { conditions: [legacyCondition(legacy)] }) });
  const reading = registrations.follow(signal);
  const warning = { client: management, context };
  const taking = await takeLegacy(legacy, deps, warning, signal);
  const { url } = await listen(app, settings.listen, signal);
  log.info({ url }, 'viola serves');
  const following = tls && follow(app, tls, context, signal);
  const renewal = { ...registrations, clusters, management, perform, clock, log };
  const renewing = renewTokens(renewal, signal);
  const looking = [selfCheck?.(signal), rights?.run(signal)];
  await Promise.all([reading, following, renewing, taking.warned, ...looking]);
  await taking.close();
  await app.close();
}

interface ServedTls {
  readonly files: CertificateFiles;
  /** Certificate at start. */
  readonly first: Certificate;
}

/** Applies renewed certificates, and reports the served certificate's expiry as a metric. */
async function follow(
  app: HttpServer,
  { files, first }: ServedTls,
  { clock, log, metrics }: Context,
  signal: AbortSignal,
): Promise<void> {
  const name = 'multinic_viola_certificate_expiry_timestamp_seconds';
  const onUse = (certificate: Certificate): void =>
    metrics.set(name, { certificate: 'served' }, endOf(certificate).getTime() / 1000);
  await followCertificate(app, files, { first, clock, log, onUse }, signal);
}

function accessOf({ kubeconfig }: ViolaSettings): Promise<ClusterAccess> {
  return kubeconfig === undefined ? inCluster() : loadKubeconfig(kubeconfig);
}

async function openTokens(
  path: string,
  { clock, log, health, metrics }: Context,
): Promise<TokenFile> {
  return openTokenFile(path, {
    clock,
    log,
    health,
    onRead: (usable) =>
      metrics.set('multinic_token_file_usable', { server: 'viola' }, usable ? 1 : 0),
    madeBy: madeBy('viola-api-tokens', '--viola-access'),
  });
}

function servingFiles({ listen: at, tlsCert, tlsKey, plainHttp }: ViolaSettings) {
  return certificateFilesOf({
    listen: at,
    certFile: tlsCert,
    keyFile: tlsKey,
    plainHttp,
    madeBy: madeBy('viola-api-tls', '--viola-tls'),
  });
}

/** Returns advice about the origin of a missing Viola file. */
function madeBy(secret: string, setting: string): string {
  return `in a Pod the file comes from Secret ${secret}, which the operator creates with ${setting} managed; docs/guides/access.md describes other ways to create it`;
}

/** Starts the legacy listener before the API, so that a port conflict aborts the start. */
async function takeLegacy(
  legacy: LegacyListener | undefined,
  deps: PostDeps,
  options: LegacyWarningOptions,
  signal: AbortSignal,
): Promise<{ readonly warned: Promise<void>; readonly close: () => Promise<void> }> {
  options.context.metrics.set('multinic_legacy_listener', {}, legacy ? 1 : 0);
  if (!legacy) return { warned: Promise.resolve(), close: async () => undefined };
  const { clock, log, metrics } = options.context;
  const onAnswer = countAnswers(metrics, 'viola-legacy');
  const app = createLegacyServer(legacy, deps, { clock, log, onAnswer });
  const { url } = await listen(app, legacy.listen, signal);
  const close = async (): Promise<void> => app.close();
  return { warned: warnOfLegacyListener(legacy, url, options, signal), close };
}

/** Counts and times a server's answers. */
function countAnswers(metrics: Context['metrics'], server: string) {
  return ({ method, route, status, seconds }: AnsweredRequest): void => {
    const answered = { server, method, route };
    metrics.count('multinic_http_requests_total', { ...answered, status: String(status) });
    metrics.observe('multinic_http_request_duration_seconds', answered, seconds);
  };
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
    onAnswer: countAnswers(metrics, 'viola'),
  });
}
