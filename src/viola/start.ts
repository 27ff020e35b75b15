import type { metricTable } from '../api/metrics.ts';
import { certificateFilesOf, readCertificate } from '../http/certificate.ts';
import { listen } from '../http/server.ts';
import { openTokenFile, type TokenFile } from '../http/token-file.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { claimsOf } from '../kube/rights.ts';
import type { PartContext } from '../process/part.ts';
import { userAgentOf } from '../process/version.ts';
import { countAnswers } from '../runtime/api-server.ts';
import { type PartBase, runPart, type Wiring } from '../runtime/part.ts';
import { aborted } from '../time/aborted.ts';
import { Clusters } from './clusters/clusters.ts';
import { openRegistrations } from './clusters/registrations.ts';
import { ClusterRights } from './clusters/rights-in-cluster.ts';
import {
  createLegacyServer,
  type LegacyListener,
  legacyCondition,
  legacyListenerOf,
} from './legacy-listener/listener.ts';
import { warnOfLegacyListener } from './legacy-listener/warning.ts';
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
  // Unusable files end the start before any request.
  const tokens = await openTokens(settings.tokenFile, context);
  const files = servingFiles(settings);
  if (files) await readCertificate(files);
  const legacy = legacyListenerOf(settings);
  const expiry = 'multinic_viola_certificate_expiry_timestamp_seconds';
  const onCertificate = (endsAt: Date): void =>
    context.metrics.set(expiry, { certificate: 'served' }, endsAt.getTime() / 1000);
  const places = placesOf(settings, context.pod?.namespace);
  const part = {
    name: 'viola',
    component: 'viola',
    title: 'Viola',
    kubeconfig: settings.kubeconfig,
    listen: settings.listen,
    server: { name: 'viola', files, onCertificate },
    rights: { table: violaRights, claims: claimsOf(violaRights.rights, places) },
  } as const;
  const wire = async (base: PartBase) => wireViola(settings, tokens, legacy, base);
  await runPart({ ...part, wire }, context, signal);
}

/** Wires registrations, clusters and routes. */
async function wireViola(
  settings: ViolaSettings,
  tokens: TokenFile,
  legacy: LegacyListener | undefined,
  { client: management, perform, context, lifetime, resources }: PartBase,
): Promise<Wiring> {
  const { clock, random, log } = context;
  const { clusterTimeout: timeoutMs, acceptUnfenced, takeOver } = settings;
  const registrations = openRegistrations(management, settings.registrationsNamespace, context);
  const connect = { clock, random, userAgent: userAgentOf('multinic-viola'), timeoutMs };
  const clusters = resources.use(
    new Clusters({
      ...registrations,
      log,
      connect: ({ access }) => createKubeClient(access, connect),
    }),
  );
  const rights = context.selfCheck === false ? undefined : new ClusterRights({ clusters, context });
  const cache = new AnswerCache(clock, cacheForMs);
  const deps = {
    clusters,
    rights,
    tokens,
    cache,
    clock,
    perform,
    acceptUnfenced,
    takeOver,
    parallel,
  };
  const renewal = { ...registrations, clusters, management, perform, clock, log };
  context.metrics.set('multinic_legacy_listener', {}, legacy ? 1 : 0);
  const legacyTask =
    legacy && (await openLegacy(legacy, deps, { management, context, lifetime, resources }));
  return {
    serve: (app) =>
      serveViola(app, { ...deps, ...(legacy && { conditions: [legacyCondition(legacy)] }) }),
    readiness: {},
    tasks: {
      registrations: registrations.follow,
      tokens: async (end) => renewTokens(renewal, end),
      ...(rights && { 'rights in clusters': async (end: AbortSignal) => rights.run(end) }),
      ...(legacyTask && { 'legacy listener': legacyTask }),
    },
  };
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

interface LegacyOptions extends Pick<PartBase, 'context' | 'lifetime' | 'resources'> {
  readonly management: PartBase['client'];
}

/** Starts the legacy listener before the API, so that a port conflict aborts the start. Returns the task that warns. */
async function openLegacy(
  legacy: LegacyListener,
  deps: PostDeps,
  { management: client, context, lifetime, resources }: LegacyOptions,
): Promise<(signal: AbortSignal) => Promise<void>> {
  const { clock, log, metrics } = context;
  const onAnswer = countAnswers(metrics, 'viola-legacy');
  const app = createLegacyServer(legacy, deps, { clock, log, onAnswer });
  resources.defer(async () => app.close());
  const { url } = await listen(app, legacy.listen, lifetime);
  return async (signal) => {
    await warnOfLegacyListener(legacy, url, { client, context }, signal);
    await aborted(signal);
  };
}
