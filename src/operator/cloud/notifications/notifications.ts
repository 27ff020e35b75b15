import { createHash } from 'node:crypto';
import { type Condition, type ConditionUpdate, findCondition } from '../../../api/condition.ts';
import type { metricTable } from '../../../api/metrics.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import {
  type BrokerAddress,
  brokerAddress,
  brokerText,
  placeOf,
} from '../../../openstack/notifications/broker-address.ts';
import { type Listen, listenByAmqp } from '../../../openstack/notifications/connection.ts';
import type { Happening as CloudEvent } from '../../../openstack/notifications/envelope.ts';
import { nothingHappened, readNotification } from '../../../openstack/notifications/envelope.ts';
import { Subscription } from '../../../openstack/notifications/subscription.ts';
import type { Logger } from '../../../process/log.ts';
import type { Metrics } from '../../../process/metrics.ts';
import type { TlsOptions } from '../../../requests/transport.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { isOwnEndpoint } from '../../model/resolve/policy.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { type Authorities, tlsOf } from '../credentials/account.ts';
import { conditionOf, type, unusable } from './condition.ts';
import { Connections } from './connections.ts';
import { PendingEvents } from './pending-events.ts';

export interface NotificationsOptions {
  readonly isOn: boolean;
  readonly listen: Listen;
  readonly virtualHost: string;
  readonly isTrusted: (address: BrokerAddress) => boolean;
  readonly tls: () => Promise<TlsOptions>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Pick<OperatorMetrics, 'count' | 'observe'>;
  readonly connections: Connections;
  /** Called for a cloud event that may concern these OpenstackConfigs (`namespace/name`). */
  readonly onEvent: (members: readonly string[], event: CloudEvent) => void;
}

interface CreateOptions extends Pick<NotificationsOptions, 'clock' | 'random' | 'log' | 'onEvent'> {
  readonly settings: OperatorSettings;
  readonly authorities: Authorities;
  readonly metrics: Metrics<typeof metricTable>;
}

/** Creates the AMQP listener; the operator's settings may switch notifications off. */
export function createNotifications(options: CreateOptions): Notifications {
  const { settings, authorities, metrics, clock } = options;
  return new Notifications({
    ...options,
    isOn: settings.notifications,
    listen: listenByAmqp(clock),
    // Neutron, Nova and Keystone publish here unless their configuration names another one.
    virtualHost: '/',
    isTrusted: (address) => isOwnEndpoint(placeOf(address), settings),
    tls: async () => tlsOf(settings.openstackInsecureTls, await authorities.openstack()),
    connections: new Connections(metrics),
  });
}

/** A broker connection, shared by all OpenstackConfigs with this broker. */
interface Shared {
  readonly key: string;
  readonly members: Set<string>;
  /** Returns the connection's condition; undefined: nothing new. */
  readonly condition: () => ConditionUpdate | undefined;
  readonly stop: () => void;
}

/** Listens to the OpenstackConfigs' brokers, with one connection per broker. */
export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #shared = new Map<string, Shared>();
  readonly #joined = new Map<string, Shared>();
  readonly #ending = new Set<Promise<void>>();
  #leading = AbortSignal.abort();

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  /** Listens while `work` runs, and closes all connections afterwards. */
  async during(leading: AbortSignal, work: () => Promise<void>): Promise<void> {
    this.#leading = leading;
    try {
      await work();
    } finally {
      this.#leading = AbortSignal.abort();
      for (const member of this.#joined.keys()) this.leave(member);
      await Promise.all(this.#ending);
    }
  }

  /** Sends this broker's events to the OpenstackConfig, from now on, instead of a former broker's events. */
  join(member: string, broker: Broker | undefined): void {
    if (!this.#options.isOn || this.#leading.aborted) return;
    const key = broker && digest(broker);
    if (this.#joined.get(member)?.key === key) return;
    this.leave(member);
    if (!broker || !key) return;
    const shared = this.#shared.get(key) ?? this.#open(key, broker);
    this.#shared.set(key, shared);
    this.#joined.set(member, shared);
    shared.members.add(member);
  }

  leave(member: string): void {
    const shared = this.#joined.get(member);
    this.#joined.delete(member);
    if (!shared?.members.delete(member) || shared.members.size > 0) return;
    this.#shared.delete(shared.key);
    shared.stop();
  }

  /** Returns the OpenstackConfig's condition, after the previous condition; undefined: no broker. */
  conditionOf(
    member: string,
    previous: readonly Condition[] | undefined,
  ): ConditionUpdate | undefined {
    const shared = this.#joined.get(member);
    return shared && (shared.condition() ?? conditionIn(previous));
  }

  #open(key: string, broker: Broker): Shared {
    const { clock, random, virtualHost, isTrusted, tls, listen, connections, onEvent } =
      this.#options;
    const members = new Set<string>();
    const why = unusable(broker);
    if (why) return { key, members, condition: () => why, stop: () => undefined };
    const { username, password = '', hosts } = broker;
    const addresses = hosts.flatMap((host) => brokerAddress(host) ?? []);
    const name = addresses.map(brokerText).join(',');
    const log = this.#options.log.child({ broker: name });
    const stop = new AbortController();
    const pending = new PendingEvents(clock, stop.signal, (event) => onEvent([...members], event));
    const subscription = new Subscription({
      addresses,
      username,
      password,
      virtualHost,
      isTrusted,
      tls,
      listen,
      clock,
      random,
      log,
      onMessage: (body) => this.#receive(name, body, pending),
      onGap: () => pending.add({ ...nothingHappened, whole: true }),
    });
    const forget = connections.add(name, () => subscription.state.kind === 'connected');
    const ended = subscription
      .run(stop.signal)
      .catch((error: unknown) => log.error({ err: error }, 'notifications ended unexpectedly'))
      .finally(() => {
        forget();
        this.#ending.delete(ended);
      });
    this.#ending.add(ended);
    const condition = (): ConditionUpdate | undefined =>
      conditionOf(subscription.state, clock.monotonicMs());
    return { key, members, condition, stop: () => stop.abort() };
  }

  #receive(broker: string, body: Buffer | undefined, pending: PendingEvents): void {
    const { metrics, clock, log } = this.#options;
    const read = readNotification(body);
    metrics.count('multinic_notifications_total', { broker, result: read.kind });
    if (read.kind === 'unreadable')
      log.debug({ broker, why: read.why }, 'notification not readable');
    if (read.kind !== 'happening') return;
    if (read.sentAt) {
      const lagMs = Math.max(0, clock.now().getTime() - read.sentAt.getTime());
      metrics.observe('multinic_notification_lag_seconds', { broker }, lagMs / 1000);
    }
    pending.add(read.happening);
  }
}

function conditionIn(previous: readonly Condition[] | undefined): ConditionUpdate | undefined {
  const { status, reason = '', message = '' } = findCondition(previous, type) ?? {};
  return status && { type, status, reason, message };
}

// A digest, because a password as a map key would end up in heap dumps. Sorted hosts, because Contrabass may list the
// hosts in any order.
function digest({ username, password, hosts, denied }: Broker): string {
  return createHash('sha256')
    .update(JSON.stringify([username, password, hosts.toSorted(), denied]))
    .digest('hex');
}
