import { identityNamespace } from '../api/names.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { namespaces } from '../kube/core-resources.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Owner } from '../plan/plan.ts';
import { type ConfigObject, ownerOf } from './model/openstack-config.ts';
import type { OperatorSettings } from './model/settings/operator.ts';
import { StepFailure } from './model/step-failure.ts';

/** Identity of the operator's own cluster. */
export class ManagementCluster {
  readonly #client: Pick<KubeClient, 'find'>;
  readonly #formerClusters: readonly string[];
  #known: string | undefined;

  constructor(
    client: Pick<KubeClient, 'find'>,
    { formerClusters }: Pick<OperatorSettings, 'formerClusters'>,
  ) {
    this.#client = client;
    this.#formerClusters = formerClusters;
  }

  /**
   * Returns the uid of the Namespace kube-system, read once per process. Throws StepFailure without the right to read it,
   * and KubeError when the API server fails.
   */
  async uid(signal: AbortSignal): Promise<string> {
    this.#known ??= await this.#read(signal);
    return this.#known;
  }

  /** Returns the OpenstackConfig as owner of nodes: a name alone also fits namesakes in other clusters. Throws as `uid`. */
  async owner(object: ConfigObject, signal: AbortSignal): Promise<Owner> {
    const cluster = await this.uid(signal);
    return { ...ownerOf(object), cluster, formerClusters: this.#formerClusters };
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
