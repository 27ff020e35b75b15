import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ClusterAccess } from '../../kube/access/access.ts';
import { AccessError } from '../../kube/access/access-error.ts';
import { loadKubeconfig } from '../../kube/access/kubeconfig.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { createKubeClient } from '../../kube/client/http-client.ts';
import { userAgentOf } from '../../process/version.ts';
import { systemClock, systemRandom } from '../../time/clock.ts';
import type { Limit } from '../../time/deadline.ts';

/**
 * Returns the default kubeconfig path. kubectl treats an empty KUBECONFIG as unset. Images may lack a home folder.
 */
export function usualKubeconfig(): string {
  const { KUBECONFIG: variable = '', HOME: home = '/' } = process.env;
  return variable === '' ? join(home, '.kube', 'config') : variable;
}

/** The same for `--help`, whose text depends on no machine. */
export const usualKubeconfigText = 'KUBECONFIG, else ~/.kube/config';

/** Options by which the user chose a cluster, such as `--kubeconfig` and `--context`. */
export interface ClusterFlags {
  readonly file: string;
  readonly context: string;
}

/** Reads a kubeconfig context. Throws Refusal or AccessError with the options for a new choice. */
export async function accessOf(
  path: string,
  context: string | undefined,
  flags: ClusterFlags,
): Promise<ClusterAccess> {
  if (path.includes(delimiter) && !existsSync(path)) {
    throw new AccessError(
      `${path} is a list of kubeconfigs; the command reads only one`,
      `give one file with ${flags.file}`,
    );
  }
  try {
    return await loadKubeconfig(path, context === undefined ? {} : { context });
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    const next = `choose another file with ${flags.file}, or a context of the file with ${flags.context}: kubectl --kubeconfig ${path} config get-contexts`;
    throw new AccessError(cause.message, next, { cause });
  }
}

/** Returns a client; `limit` bounds each attempt (default: 30 s). */
export function connect(access: ClusterAccess, limit?: Limit): KubeClient {
  return createKubeClient(access, {
    clock: limit?.clock ?? systemClock,
    random: systemRandom,
    userAgent: userAgentOf('multinic-cli'),
    ...(limit && { timeoutMs: limit.ms }),
  });
}
