import type { metricTable } from '../../../../api/metrics.ts';
import {
  certificateFilesOf,
  followCertificate,
  readCertificate,
} from '../../../../http/certificate.ts';
import { createHttpServer, listen } from '../../../../http/server.ts';
import { openTokenFile } from '../../../../http/token-file.ts';
import { operatorVerbs } from '../../../../http/who-may.ts';
import type { PartContext } from '../../../../process/part.ts';
import { type TriggerSettings, triggerAccess } from '../../../model/settings/triggers.ts';
import { type CallersDeps, keysIn } from './callers.ts';
import { ReconcileRequests, type ReconcileRequestsDeps } from './reconcile-requests.ts';
import { longestBody, serveTriggers } from './routes.ts';
import { UsedSignatures } from './used-signatures.ts';

type Context = PartContext<typeof metricTable>;

/** Serves triggers on every replica until the signal aborts; does not listen without configured callers. */
export async function startTriggerServer(
  settings: TriggerSettings,
  cluster: Pick<ReconcileRequestsDeps, 'client' | 'perform' | 'allowedNamespaces'>,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { tokensFile, tls: places } = triggerAccess(settings);
  const callers = await callersOf({ tokensFile, keyFile: settings.triggerHmacKeyFile }, context);
  if (!callers) return aborted(signal);
  const { clock, log, health, metrics, about } = context;
  const files = certificateFilesOf(places);
  const tls = files && (await readCertificate(files));
  const app = await createHttpServer({
    title: 'MultiNIC triggers',
    clock,
    log,
    health,
    registry: metrics.registry,
    about,
    bodyLimit: longestBody,
    ...(tls ? { tls } : {}),
    onAnswer: ({ method, route, status, seconds }) => {
      const labels = { server: 'trigger', method, route };
      metrics.count('multinic_http_requests_total', { ...labels, status: String(status) });
      metrics.observe('multinic_http_request_duration_seconds', labels, seconds);
    },
  });
  serveTriggers(app, {
    ...callers,
    used: new UsedSignatures(clock),
    requests: new ReconcileRequests({ ...cluster, clock, lifetime: signal }),
    clock,
  });
  const { url } = await listen(app, settings.triggerListen, signal);
  log.info({ url }, 'trigger endpoint started');
  if (files && tls) await followCertificate(app, files, { first: tls, clock, log }, signal);
  else await aborted(signal);
  await app.close();
}

/** Files that name the callers of the trigger endpoint. */
interface CallerFiles {
  readonly tokensFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Returns the configured callers; undefined: none. Throws an Error when a file is unusable. */
async function callersOf(
  { tokensFile, keyFile }: CallerFiles,
  context: Context,
): Promise<Pick<CallersDeps, 'tokens' | 'keys'> | undefined> {
  if (tokensFile === undefined && keyFile === undefined) return undefined;
  const tokens = tokensFile === undefined ? undefined : await openTokens(tokensFile, context);
  if (keyFile === undefined) return { tokens, keys: undefined };
  await keysIn(keyFile);
  return { tokens, keys: async () => keysIn(keyFile) };
}

async function openTokens(path: string, { clock, log, health, metrics }: Context) {
  return openTokenFile(path, {
    clock,
    log,
    verbs: operatorVerbs,
    // The same process' inventory has a token file, too.
    health: { ready: (name, check) => health.ready(`trigger-${name}`, check) },
    onRead: (usable) =>
      metrics.set('multinic_token_file_usable', { server: 'trigger' }, usable ? 1 : 0),
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) resolve();
  return promise;
}
