import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricTable } from '../../../api/metrics.ts';
import type { Broker } from '../../../openstack/contrabass.ts';
import {
  BrokerFailure,
  type BrokerFailureKind,
} from '../../../openstack/notifications/broker-failure.ts';
import type { BrokerLogin, Listener } from '../../../openstack/notifications/connection.ts';
import { nothingHappened } from '../../../openstack/notifications/envelope.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import { createFakeClock, type FakeClock, settled } from '../../../time/fake-clock.ts';
import type { CloudEvent } from '../../flow/schedule/cloud-events.ts';
import { Connections } from './connections.ts';
import { Notifications } from './notifications.ts';

const server = '32edb6b7-f24d-42cc-bae0-0ea261282c04';
const broker: Broker = { username: 'r', password: 'secret-word', hosts: ['10.0.0.1:5672'] };
const all = ['neutron', 'nova', 'keystone'];

interface Opened {
  readonly login: BrokerLogin;
  readonly to: Listener;
  readonly signal: AbortSignal;
  readonly fail: (why: BrokerFailureKind) => void;
}

let clock: FakeClock;
let opened: Opened[];
let events: [readonly string[], CloudEvent][];
let metrics: ReturnType<typeof createMetrics<typeof metricTable>>;
let notifications: Notifications;
let stop: AbortController;
let over: Promise<void>;

function open(isOn = true, goodbye = Promise.resolve()): void {
  clock = createFakeClock();
  opened = [];
  events = [];
  metrics = createMetrics(metricTable);
  notifications = new Notifications({
    isOn,
    listen: async (login, to, signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      const leave = async (): Promise<void> => goodbye.then(() => reject(signal.reason));
      signal.addEventListener('abort', () => void leave(), { once: true });
      const fail = (why: BrokerFailureKind): void => reject(new BrokerFailure(why, 'in the way'));
      opened.push({ login, to, signal, fail });
      return promise;
    },
    virtualHost: 'vh',
    isTrusted: ({ host }) => host === '10.0.0.1',
    tls: async () => ({ ca: 'authorities' }),
    clock,
    random: () => 0.5,
    log: createLogger({ part: 'test', level: 'silent' }),
    metrics,
    connections: new Connections(metrics),
    onEvent: (members, event) => events.push([members, event]),
  });
  lead();
}

function lead(): void {
  stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  stop.signal.addEventListener('abort', () => resolve());
  over = notifications.during(stop.signal, async () => promise);
}

beforeEach(() => open());

afterEach(async () => {
  stop.abort();
  await over;
  await settled();
  expect(clock.waits).toEqual([]);
});

async function connected(at = 0): Promise<Opened> {
  await settled();
  const connection = opened[at];
  if (!connection) throw new Error('nobody listens');
  connection.to.onBound(all);
  await clock.advance(300);
  events.length = 0;
  return connection;
}

function message(sentAt = '2026-01-01 00:00:00.000000'): Buffer {
  const inner = {
    event_type: 'port.update.end',
    timestamp: sentAt,
    payload: { port: { id: server, device_id: server } },
  };
  return Buffer.from(
    JSON.stringify({ 'oslo.version': '2.0', 'oslo.message': JSON.stringify(inner) }),
  );
}

/** Returns the present condition as text. */
function conditionText(): string | undefined {
  const { status, reason, message: text } = notifications.conditionOf('ns/a', []) ?? {};
  return status && `${status} ${reason}: ${text}`;
}

async function value(name: string) {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  return metric?.values.map((one) => [one.labels, one.value] as const);
}

describe('connection to a broker', () => {
  it('OpenstackConfigs with the same broker share one connection with the credentials from Contrabass', async () => {
    for (const member of ['ns/a', 'ns/b', 'ns/a']) notifications.join(member, broker);
    const { to } = await connected();
    expect(opened.map(({ login }) => login)).toEqual([
      {
        address: { host: '10.0.0.1', port: 5672, tls: false },
        username: 'r',
        password: 'secret-word',
        virtualHost: 'vh',
        isTrusted: true,
        tls: { ca: 'authorities' },
      },
    ]);
    to.onMessage(message());
    await clock.advance(300);
    expect(events).toEqual([
      [['ns/a', 'ns/b'], { ...nothingHappened, servers: [server], ports: [server] }],
    ]);
  });

  it('a connection starts a full sync of all members when connected, and again after a reconnect', async () => {
    notifications.join('ns/a', broker);
    await settled();
    opened[0]?.to.onBound(all);
    await clock.advance(300);
    expect(events).toEqual([[['ns/a'], { ...nothingHappened, whole: true }]]);
    await clock.advance(60_000);
    opened[0]?.fail('unreachable');
    await clock.advance(1_000);
    opened[1]?.to.onBound(all);
    await clock.advance(300);
    expect(events).toHaveLength(2);
  });

  it('a connection closes when the last member leaves, and pending events are dropped', async () => {
    for (const member of ['ns/a', 'ns/b']) notifications.join(member, broker);
    const { to, signal } = await connected();
    notifications.leave('ns/a');
    expect(signal.aborted).toBe(false);
    to.onMessage(message());
    notifications.join('ns/b', undefined);
    expect(signal.aborted).toBe(true);
    await clock.advance(60_000);
    expect([events, opened.length]).toEqual([[], 1]);
    expect(notifications.conditionOf('ns/b', [])).toBeUndefined();
  });

  it('a changed password opens a new connection and closes the old connection', async () => {
    notifications.join('ns/a', broker);
    await connected();
    notifications.join('ns/a', { ...broker, password: 'other' });
    await settled();
    expect(opened.map(({ login, signal }) => [login.password, signal.aborted])).toEqual([
      ['secret-word', true],
      ['other', false],
    ]);
  });

  it('a different host order keeps the same connection', async () => {
    const hosts = ['10.0.0.1:5672', '10.0.0.2:5672'];
    notifications.join('ns/a', { ...broker, hosts });
    await connected();
    notifications.join('ns/a', { ...broker, hosts: hosts.toReversed() });
    notifications.join('ns/b', { ...broker, hosts: hosts.toReversed() });
    await settled();
    expect(opened.map(({ signal }) => signal.aborted)).toEqual([false]);
  });

  it('an unreadable message causes no event', async () => {
    notifications.join('ns/a', broker);
    const { to } = await connected();
    to.onMessage(Buffer.from('{}'));
    await clock.advance(60_000);
    expect(events).toEqual([]);
  });

  it("connections are closed when the leader's work fails, before `during` rejects", async () => {
    stop.abort();
    await over;
    const goodbye = Promise.withResolvers<void>();
    open(true, goodbye.promise);
    stop.abort();
    await over;
    let isOver = false;
    const leading = new AbortController();
    const failed = notifications
      .during(leading.signal, async () => {
        notifications.join('ns/a', broker);
        await settled();
        throw new Error('the work failed');
      })
      .catch((error: unknown) => {
        isOver = true;
        return error;
      });
    await settled();
    expect([opened.at(-1)?.signal.aborted, isOver]).toEqual([true, false]);
    notifications.join('ns/b', broker);
    goodbye.resolve();
    expect(await failed).toMatchObject({ message: 'the work failed' });
    expect(opened).toHaveLength(1);
  });

  it('only the leader connects to the broker', async () => {
    notifications.join('ns/a', broker);
    await connected();
    stop.abort();
    await over;
    notifications.join('ns/a', broker);
    await settled();
    expect(opened.map(({ signal }) => signal.aborted)).toEqual([true]);
    lead();
    notifications.join('ns/a', broker);
    await settled();
    expect(opened).toHaveLength(2);
  });

  it('no connection is opened when notifications are switched off', async () => {
    stop.abort();
    await over;
    open(false);
    notifications.join('ns/a', broker);
    await settled();
    expect(opened).toEqual([]);
    expect(notifications.conditionOf('ns/a', [])).toBeUndefined();
  });
});

describe('condition Notifications', () => {
  const polling = 'changes are found by polling';

  it('the condition repeats the previous condition while the connection is unknown', async () => {
    notifications.join('ns/a', broker);
    await settled();
    expect(conditionText()).toBeUndefined();
    const before = {
      type: 'Notifications',
      status: 'True',
      reason: 'Connected',
      message: 'x',
    } as const;
    const previous = [{ ...before, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    expect(notifications.conditionOf('ns/a', previous)).toEqual(before);
  });

  it('the condition reports Connected and names missing exchanges', async () => {
    notifications.join('ns/a', broker);
    const { to } = await connected();
    const listening = 'the message queue reports changes in OpenStack';
    expect(conditionText()).toBe(`True Connected: ${listening}`);
    to.onBound(['neutron']);
    expect(conditionText()).toBe(
      `True Connected: ${listening}, except for nova and keystone: no such exchange`,
    );
    to.onBound(['nova', 'keystone']);
    expect(conditionText()).toMatch(/^False Disconnected: .*no exchange "neutron".*polling$/);
  });

  it('the condition reports a lost connection after one minute, with the same message for every retry', async () => {
    notifications.join('ns/a', broker);
    (await connected()).fail('unreachable');
    await settled();
    await clock.advance(59_000);
    expect(conditionText()).toBeUndefined();
    await clock.advance(1_000);
    const first = conditionText();
    expect(first).toMatch(/^False Disconnected: the message queue .* does not answer: .*polling$/);
    for (let n = 1; n < 5; n++) {
      opened.at(-1)?.fail('unreachable');
      await clock.advance(60_000);
      expect(conditionText()).toBe(first);
    }
  });

  it.each([
    ['refused', 'the message queue refuses the user and password from Contrabass'],
    [
      'virtualHost',
      'the message queue has no virtual host / for this user, or has reached its connection limit',
    ],
    ['forbidden', 'the user of the message queue may not create a queue'],
    [
      'denied',
      'the host of the message queue resolves to a loopback, link-local or metadata address',
    ],
    ['certificate', 'the certificate of the message queue cannot be verified'],
  ] as const)('the condition reports at once when a user has to act: %s', async (why, words) => {
    notifications.join('ns/a', broker);
    (await connected()).fail(why);
    await settled();
    expect(conditionText()).toContain(`False Disconnected: ${words}: `);
  });

  it.each([
    [{ username: 'r', hosts: broker.hosts }, 'does not decrypt the password of the message queue'],
    [
      { ...broker, denied: '"10.0.0.1:5672", which is a link-local address' },
      'the message queue host "10.0.0.1:5672", which is a link-local address; ',
    ],
    [{ ...broker, hosts: [] }, 'returns no host of the message queue'],
    [
      { ...broker, hosts: ['10.0.0.1', 'http://x'] },
      'returns the message queue host as "http://x": set',
    ],
    [
      { ...broker, hosts: ['amqp://u:secret@h'] },
      'returns the message queue host as a URL with a user: set',
    ],
    // A URL with a comma in the password, parsed as a list.
    [
      { ...broker, hosts: ['amqp://u:sec', 'ret@h'] },
      'returns the message queue host as a URL with a user: set',
    ],
    [
      { ...broker, hosts: ['u:123', '456@h'], denied: '"u:123", which is not allowed' },
      'returns the message queue host as a URL with a user: set',
    ],
  ])('the condition reports unusable broker data from Contrabass: %j', async (unusable, words) => {
    notifications.join('ns/a', unusable);
    await settled();
    expect(conditionText()).toMatch(/^False Disconnected: /);
    expect(conditionText()).toContain(words);
    expect(conditionText()).toContain(polling);
    expect(opened).toEqual([]);
    notifications.join('ns/a', broker);
    await connected();
    expect(conditionText()).toMatch(/^True/);
  });
});

describe('notification metrics', () => {
  const labels = { broker: '10.0.0.1:5672' };

  it('multinic_notifications_connected exists only while a broker has members, and is 1 when connected', async () => {
    notifications.join('ns/a', broker);
    await settled();
    expect(await value('multinic_notifications_connected')).toEqual([[labels, 0]]);
    await connected();
    expect(await value('multinic_notifications_connected')).toEqual([[labels, 1]]);
    // The same host with a second user, not connected yet.
    notifications.join('ns/b', { ...broker, username: 'other' });
    expect(await value('multinic_notifications_connected')).toEqual([[labels, 0]]);
    notifications.leave('ns/a');
    notifications.leave('ns/b');
    await settled();
    expect(await value('multinic_notifications_connected')).toEqual([]);
  });

  it('multinic_notifications_total counts messages by result, and the lag of relevant messages is observed', async () => {
    notifications.join('ns/a', broker);
    const { to } = await connected();
    to.onMessage(message('2025-12-31 23:59:56.300000'));
    // A broker clock ahead of our clock.
    to.onMessage(message('2026-01-01 01:00:00.000000'));
    to.onMessage(undefined);
    to.onMessage(Buffer.from('{}'));
    expect(await value('multinic_notifications_total')).toEqual([
      [{ ...labels, result: 'happening' }, 3],
      [{ ...labels, result: 'unreadable' }, 1],
    ]);
    const lag = await metrics.registry.getSingleMetricAsString('multinic_notification_lag_seconds');
    expect(lag).toContain('_count{broker="10.0.0.1:5672"} 2');
    expect(lag).toContain('_sum{broker="10.0.0.1:5672"} 4');
  });
});
