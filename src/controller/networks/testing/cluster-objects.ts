import type { ClusterNetwork } from '../../../api/cluster-networks.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { KubeError } from '../../../kube/errors.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { type ClusterFactsOptions, createClusterFacts } from '../cluster-facts.ts';

/** Objects by `resource version`, or `resource namespace/name`; an error: the read fails. */
export type Objects = Readonly<Record<string, readonly object[] | object | KubeError>>;

export const forbidden = new KubeError({ status: 403, reason: 'Forbidden', message: 'forbidden' });
export const unserved = new KubeError({
  status: 404,
  reason: 'Unserved',
  message: 'page not found',
});
export const broken = new KubeError({
  status: 500,
  reason: 'InternalError',
  message: 'etcd is away',
});

/** Key for all Services: every API server serves this kind. */
export const services = 'services v1';

type Kind = Readonly<Record<'plural' | 'version', string>>;

/** Business cluster whose objects a test replaces, with the controller's requests, warnings and Events. */
export class ClusterObjects {
  objects: Objects = {};
  readonly requests: string[] = [];
  readonly warnings: string[] = [];
  readonly events: string[] = [];
  readonly clock = createFakeClock();
  /** Networks in the ConfigMap; undefined: no ConfigMap. */
  stored: readonly ClusterNetwork[] | undefined;

  /** Returns facts for `objects`: unlisted kinds are not served, unlisted names do not exist. */
  facts(options: Partial<ClusterFactsOptions> = {}) {
    const client = {
      find: async ({ plural }: Kind, ref: { namespace: string; name: string }) =>
        Promise.resolve(this.#answer(`${plural} ${ref.namespace}/${ref.name}`)),
      list: async (kind: Kind) => Promise.resolve(this.#list(kind)),
      listAll: async (kind: Kind) => Promise.resolve(this.#list(kind)),
    };
    return createClusterFacts({
      client: client as unknown as KubeClient,
      published: {
        read: async () => Promise.resolve(this.stored),
        write: async (networks) => {
          this.stored = networks;
          return Promise.resolve();
        },
      },
      serviceCIDRs: [],
      podNetworks: [],
      nodes: nodesWith([]),
      clock: this.clock,
      random: () => 0.5,
      log: {
        warn: (_: object, text: string) => void this.warnings.push(text),
      } as unknown as ClusterFactsOptions['log'],
      onMissingRight: (message) => void this.events.push(message),
      ...options,
    });
  }

  #list({ plural, version }: Kind) {
    const key = `${plural} ${version}`;
    const items = this.#answer(key);
    if (items === undefined && key !== services) throw unserved;
    return { items: items ?? [], resourceVersion: '1' };
  }

  #answer(key: string): unknown {
    this.requests.push(key);
    const found = this.objects[key];
    if (found instanceof KubeError) throw found;
    return found;
  }
}

/** Returns listed Nodes with these podCIDRs. */
export function nodesWith(podCidrs: readonly string[]): ClusterFactsOptions['nodes'] {
  return { podCidrs: () => podCidrs, listed: async () => Promise.resolve() };
}
