import { keyOf } from '../../kube/object.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import type { Owner } from '../../plan/plan.ts';

/** Remembers of which broker the Secret of each OpenstackConfig is to tell. */
export class FakeBrokerSecrets {
  readonly brokers = new Map<string, Broker | undefined>();

  keep(owner: Owner, broker: Broker | undefined): void {
    this.brokers.set(keyOf(owner), broker);
  }

  leave(key: string): void {
    this.brokers.delete(key);
  }
}
