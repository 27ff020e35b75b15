import type { ConditionUpdate } from '../../../api/condition.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import { brokerAddress } from '../../../openstack/notifications/broker-address.ts';
import type { BrokerFailureKind } from '../../../openstack/notifications/broker-failure.ts';
import type { Connectedness } from '../../../openstack/notifications/subscription.ts';

/** Condition type. */
export const type = 'Notifications';

/** Milliseconds before a lost connection is reported; a status is no log of short interruptions. */
const reportedAfterMs = 60_000;

function connected(message: string): ConditionUpdate {
  const reason: OperatorReason = 'Connected';
  return { type, status: 'True', reason, message };
}

function disconnected(why: string): ConditionUpdate {
  const reason: OperatorReason = 'Disconnected';
  return {
    type,
    status: 'False',
    reason,
    message: `${why}; changes are found by polling`,
  };
}

const listening = 'the message queue reports changes in OpenStack';

/** Failure and next step; equal for equal failures, so retries do not change the status. */
const messages: Readonly<Record<BrokerFailureKind, string>> = {
  unreachable:
    'the message queue from Contrabass does not answer: check that it runs and that the operator can reach it (networkPolicy.amqp)',
  denied:
    'the host of the message queue resolves to a loopback, link-local or metadata address: correct rabbitMQUrls in Contrabass, or add the host to ALLOWED_ENDPOINTS',
  certificate:
    'the certificate of the message queue cannot be verified: add its certificate authority to OPENSTACK_CA_FILE',
  refused:
    'the message queue refuses the user and password from Contrabass: correct them in Contrabass; the operator retries the same once an hour, new ones at once',
  virtualHost:
    'the message queue has no virtual host / for this user, or has reached its connection limit: grant the user access to the virtual host /, or raise the limit',
  forbidden:
    'the user of the message queue may not create a queue: grant configure, write and read on amq.gen-.*, and read on neutron, nova and keystone',
  queueGone:
    'the queue of the operator was deleted: check which user or policy of the message queue deletes it',
  protocol:
    'the host of the message queue does not speak AMQP 0-9-1: correct rabbitMQUrls in Contrabass',
};
/** Failures for a user to solve. */
const reportedAtOnce: ReadonlySet<BrokerFailureKind> = new Set<BrokerFailureKind>([
  'denied',
  'certificate',
  'refused',
  'virtualHost',
  'forbidden',
]);

/** Returns the condition of a connection; `nowMs` is monotonic. Undefined: nothing new to report yet. */
export function conditionOf(state: Connectedness, nowMs: number): ConditionUpdate | undefined {
  if (state.kind === 'connected') return ofExchanges(state.exchanges);
  if (state.kind === 'trying') return undefined;
  const isReported = reportedAtOnce.has(state.why) || nowMs - state.since >= reportedAfterMs;
  return isReported ? disconnected(messages[state.why]) : undefined;
}

function ofExchanges(exchanges: readonly string[]): ConditionUpdate {
  if (!exchanges.includes('neutron')) {
    return disconnected(
      'the message queue has no exchange "neutron" that the user may read: set the driver messagingv2 in Neutron, or grant read',
    );
  }
  const missing = ['nova', 'keystone'].filter((exchange) => !exchanges.includes(exchange));
  if (missing.length === 0) return connected(listening);
  return connected(`${listening}, except for ${missing.join(' and ')}: no such exchange`);
}

/** Returns why the broker data from Contrabass is unusable; undefined: usable. */
export function unusable({ hosts, password, denied }: Broker): ConditionUpdate | undefined {
  if (password === undefined) {
    return disconnected(
      'the encrypt key does not decrypt the password of the message queue: correct rabbitMQPw in Contrabass',
    );
  }
  if (hosts.length === 0) {
    return disconnected(
      'Contrabass returns no host of the message queue: set rabbitMQUrls in Contrabass',
    );
  }
  const wrong = hosts.find((host) => brokerAddress(host) === undefined);
  if (wrong === undefined) {
    return denied === undefined
      ? undefined
      : disconnected(`Contrabass returns the message queue host ${denied}`);
  }
  // The host may be part of a URL with credentials, cut at a comma in the password.
  const shown = hosts.some((host) => host.includes('@')) ? 'a URL with a user' : `"${wrong}"`;
  const form = 'set rabbitMQUrls to host:port, or to a URL with scheme amqp or amqps';
  return disconnected(`Contrabass returns the message queue host as ${shown}: ${form}`);
}
