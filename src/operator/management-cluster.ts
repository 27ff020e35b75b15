import { identityNamespace } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { namespaces } from '../kube/core-resources.ts';
import { isForbidden } from '../kube/errors.ts';
import { StepFailure } from './status/step-failure.ts';

/** Identity of the operator's own cluster. */
export class ManagementCluster {
  readonly #client: Pick<KubeClient, 'find'>;
  #known: string | undefined;

  constructor(client: Pick<KubeClient, 'find'>) {
    this.#client = client;
  }

  /**
   * Returns the uid of the Namespace kube-system, read once per process. Throws StepFailure without the right to read it,
   * and KubeError when the API server fails.
   */
  async uid(signal: AbortSignal): Promise<string> {
    this.#known ??= await this.#read(signal);
    return this.#known;
  }

  async #read(signal: AbortSignal): Promise<string> {
    try {
      const found = await this.#client.find(namespaces, { name: identityNamespace }, { signal });
      if (found?.metadata.uid !== undefined) return found.metadata.uid;
    } catch (error) {
      if (!isForbidden(error)) throw error;
    }
    const message = `the operator cannot read the Namespace ${identityNamespace}, whose uid identifies this cluster to business clusters; grant its ServiceAccount get on this Namespace, as deploy/rbac and the chart do`;
    throw new StepFailure({ reason: 'ClusterIdentityUnread', message });
  }
}
