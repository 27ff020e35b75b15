import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ClusterAccess } from '../kube/access/access.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { systemClock, systemRandom } from '../time/clock.ts';
import { Refusal } from './refusal.ts';

/** The variable may be set to nothing, which to kubectl is the same as not set. In an image there may be no home. */
export function usualKubeconfig(): string {
  const { KUBECONFIG: given = '', HOME: home = '/' } = process.env;
  return given === '' ? join(home, '.kube', 'config') : given;
}

/** Reads one context of a kubeconfig; `flags` names the options with which a user chooses another file. */
export async function accessOf(
  path: string,
  context: string | undefined,
  flags: string,
): Promise<ClusterAccess> {
  if (path.includes(delimiter) && !existsSync(path)) {
    throw new Refusal(
      `${path} is a list of kubeconfigs, and only one is read`,
      `give the one that is meant with ${flags}`,
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
