import type { ConditionUpdate } from '../../api/condition.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import type { Broker } from '../../openstack/contrabass.ts';
import { brokerAddress } from '../../openstack/notifications/broker-address.ts';
import type { BrokerFailureKind } from '../../openstack/notifications/broker-failure.ts';
import type { Connectedness } from '../../openstack/notifications/subscription.ts';

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
  return { type, status: 'False', reason, message: `${why}; changes are found by polling` };
}

const listening = 'changes in OpenStack are told by its message queue';

/** Failure and next step; equal for equal failures, so retries do not change the status. */
const messages: Readonly<Record<BrokerFailureKind, string>> = {
  unreachable:
    'the message queue that Contrabass names does not answer: look whether it runs, and whether the operator may reach it (networkPolicy.amqp)',
  denied:
    'the name of the message queue that Contrabass gives leads to an inner address: correct rabbitMQUrls there, or allow its place (ALLOWED_ENDPOINTS)',
  certificate:
    'the certificate of the message queue cannot be verified: give its authority to the operator (OPENSTACK_CA_FILE)',
  refused:
    'the message queue refuses the user and password that Contrabass names: correct them there; they are tried again once an hour, others at once',
  virtualHost:
    'the message queue has no virtual host / for this user, or lets in no more of its connections: grant the user access to the virtual host /',
  forbidden:
    'the user of the message queue may not have a queue of its own: grant configure, write and read on amq.gen-.*, and read on neutron, nova and keystone',
  queueGone: 'the queue of the operator was deleted in the message queue: find out who does that',
  protocol:
    'what answers where Contrabass names the message queue is none that speaks AMQP 0-9-1: correct rabbitMQUrls there',
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
      'the message queue has no exchange "neutron" that the user may read: set the driver messagingv2 in Neutron, or grant it',
    );
  }
  const missing = ['nova', 'keystone'].filter((exchange) => !exchanges.includes(exchange));
  if (missing.length === 0) return connected(listening);
  return connected(`${listening}, but for ${missing.join(' and ')}, which it has no exchange of`);
}

/** Returns why the broker data from Contrabass is unusable; undefined: usable. */
export function unusable({ hosts, password, denied }: Broker): ConditionUpdate | undefined {
  if (password === undefined) {
    return disconnected(
      'Contrabass names no password of the message queue that fits the encrypt key: correct rabbitMQPw there',
    );
  }
  if (hosts.length === 0) {
    return disconnected('Contrabass names no host of the message queue: fill rabbitMQUrls there');
  }
  const wrong = hosts.find((host) => brokerAddress(host) === undefined);
  if (wrong === undefined) {
    return denied === undefined
      ? undefined
      : disconnected(`Contrabass names the message queue ${denied}`);
  }
  // The host may be part of a URL with credentials, cut at a comma in the password.
  const shown = hosts.some((host) => host.includes('@')) ? 'a URL with a user' : `"${wrong}"`;
  const form = 'write host:port, or a URL that begins with amqp or amqps';
  return disconnected(`Contrabass names the message queue by ${shown}: ${form}`);
}
