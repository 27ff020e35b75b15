import type { ConditionUpdate } from '../../api/condition.ts';
import type { Broker } from '../../openstack/contrabass.ts';

/** Fake that stores each member's broker and returns the set condition. */
export class FakeNotifications {
  readonly brokers = new Map<string, Broker>();
  condition: ConditionUpdate | undefined;

  join(member: string, broker: Broker | undefined): void {
    if (broker) this.brokers.set(member, broker);
    else this.leave(member);
  }

  leave(member: string): void {
    this.brokers.delete(member);
  }

  conditionOf(): ConditionUpdate | undefined {
    return this.condition;
  }
}
