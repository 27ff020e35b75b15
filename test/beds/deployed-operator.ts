import { request } from 'node:http';

/** A node as the deployed operator knows it. */
export interface DeployedNode {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly interfaces: readonly DeployedInterface[];
}

export interface DeployedInterface {
  readonly id: number;
  readonly portId: string;
  readonly macAddress: string;
  readonly address: string;
  readonly cidr: string;
  /** 0: not known, as when a call for networks failed. */
  readonly mtu: number;
}

/**
 * Calls Viola as the deployed operator does: it sends no token, all changed nodes in one request and never a full list; leaves
 * out what Go takes for empty (`id` 0, `mtu` 0, a node without interfaces altogether); looks at the status alone, takes 200 and
 * 202 for the success of every node and sends all of them again after anything else; and opens a connection per call that it
 * never closes.
 */
export class DeployedOperator {
  readonly #url: string;
  readonly #provider: string;
  readonly #changed = new Map<string, DeployedNode>();
  /** What it has been answered. */
  readonly statuses: number[] = [];

  constructor(url: string, provider: string) {
    this.#url = url;
    this.#provider = provider;
  }

  /** Nodes that it still sends. */
  get pending(): readonly string[] {
    return [...this.#changed.keys()];
  }

  change(...nodes: readonly DeployedNode[]): void {
    for (const node of nodes) {
      // "To avoid CRD validation": the removal of a last NIC is never sent.
      if (node.interfaces.length > 0) this.#changed.set(node.nodeName, node);
    }
  }

  async poll(): Promise<void> {
    if (this.#changed.size === 0) return;
    const status = await this.#post([...this.#changed.values()].map(wireNode));
    this.statuses.push(status);
    if (status === 200 || status === 202) this.#changed.clear();
  }

  async #post(body: readonly object[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request(
        `${this.#url}/v1/k8s/multinic/node-configs`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-provider-id': this.#provider },
          agent: false,
        },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      call.on('error', reject);
      call.end(JSON.stringify(body));
    });
  }
}

function wireNode({ nodeName, instanceId, interfaces }: DeployedNode) {
  return {
    nodeName,
    instanceId,
    interfaces: interfaces.map(({ id, portId, macAddress, address, cidr, mtu }) => ({
      ...(id === 0 ? {} : { id }),
      portId,
      name: `multinic${id}`,
      macAddress,
      address,
      cidr,
      ...(mtu === 0 ? {} : { mtu }),
      deviceId: instanceId,
      networkId: `network-of-${portId}`,
      subnetId: `subnet-of-${portId}`,
    })),
  };
}
