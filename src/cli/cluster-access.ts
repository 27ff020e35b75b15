import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ClusterAccess } from '../kube/access/access.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { systemClock, systemRandom } from '../time/clock.ts';
import { Refusal } from './refusal.ts';

/**
 * Returns the default kubeconfig path. kubectl treats an empty KUBECONFIG as unset. Images may lack a home folder.
 */
export function usualKubeconfig(): string {
  const { KUBECONFIG: variable = '', HOME: home = '/' } = process.env;
  return variable === '' ? join(home, '.kube', 'config') : variable;
}

/** The same for `--help`, whose text depends on no machine. */
export const usualKubeconfigText = 'KUBECONFIG, else ~/.kube/config';

/** Reads one kubeconfig context; `flags` names the options for choosing another file. */
export async function accessOf(
  path: string,
  context: string | undefined,
  flags: string,
): Promise<ClusterAccess> {
  if (path.includes(delimiter) && !existsSync(path)) {
    throw new Refusal(
      `${path} is a list of kubeconfigs; the command reads only one`,
      `name one file with ${flags}`,
    );
  }
  return loadKubeconfig(path, context === undefined ? {} : { context });
}

export function connect(access: ClusterAccess): KubeClient {
  return createKubeClient(access, {
    clock: systemClock,
    random: systemRandom,
    userAgent: 'multinic-cli',
  });
}
