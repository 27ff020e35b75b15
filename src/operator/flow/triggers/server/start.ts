import type { metricTable } from '../../../../api/metrics.ts';
import { certificateFilesOf } from '../../../../http/certificate.ts';
import { openTokenFile } from '../../../../http/token-file.ts';
import { operatorVerbs } from '../../../../http/who-may.ts';
import type { PartContext } from '../../../../process/part.ts';
import { ApiServer } from '../../../../runtime/api-server.ts';
import { aborted } from '../../../../time/aborted.ts';
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
  const { clock, log } = context;
  await using server = await ApiServer.open(
    {
      title: 'MultiNIC triggers',
      name: 'trigger',
      address: settings.triggerListen,
      files: certificateFilesOf(places),
      bodyLimit: longestBody,
    },
    context,
  );
  serveTriggers(server.app, {
    ...callers,
    used: new UsedSignatures(clock),
    requests: new ReconcileRequests({ ...cluster, clock, lifetime: signal }),
    clock,
  });
  const url = await server.listen(signal);
  log.info({ url }, 'trigger endpoint started');
  await server.followCertificate(signal);
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
