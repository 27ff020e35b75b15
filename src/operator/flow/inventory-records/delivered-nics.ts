import type { RecordedNode } from '../../../plan/plan.ts';
import { packNics, unpackNics } from '../../model/packing/nics.ts';

/** Most servers in memory: enough for large fleets, but not for every server that an autoscaler ever made. */
const mostServers = 20_000;

/** Last delivered NICs by server id, packed: NIC names outlive their objects, also without the database. */
export class DeliveredNics {
  readonly #packed = new Map<string, string>();

  readonly remember = ({ instanceId, interfaces }: RecordedNode): void => {
    const serverId = instanceId.toLowerCase();
    this.#packed.delete(serverId);
    this.#packed.set(serverId, packNics(interfaces));
    const [oldest] = this.#packed.keys();
    if (this.#packed.size > mostServers && oldest !== undefined) this.#packed.delete(oldest);
  };

  /** Returns the servers' NICs: own deliveries first, then records. */
  over(recorded: readonly RecordedNode[], serverIds: readonly string[]): RecordedNode[] {
    const own = serverIds.flatMap((serverId) => {
      const instanceId = serverId.toLowerCase();
      const packed = this.#packed.get(instanceId);
      return packed === undefined ? [] : [{ instanceId, interfaces: unpackNics(packed) }];
    });
    const other = recorded.filter(({ instanceId }) => !this.#packed.has(instanceId.toLowerCase()));
    return [...own, ...other];
  }
}
