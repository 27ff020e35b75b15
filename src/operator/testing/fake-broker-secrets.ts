import { keyOf } from '../../kube/object.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import type { Owner } from '../../plan/plan.ts';

/** Fake that stores the broker for each OpenstackConfig's Secret. */
export class FakeBrokerSecrets {
  readonly brokers = new Map<string, Broker | undefined>();

  keep(owner: Owner, broker: Broker | undefined): void {
    this.brokers.set(keyOf(owner), broker);
  }

  leave(key: string): void {
    this.brokers.delete(key);
  }
}
