import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../../../rig/fault-proxy/fault-proxy.ts';
import { type Published, type Stack, useStack } from '../../../../rig/openstack/stack.ts';
import { openTenant, type Tenant } from '../../../../rig/openstack/tenant.ts';
import { type BrokerFailure } from '../../../../src/openstack/notifications/broker-failure.ts';
import {
  type BrokerLogin,
  listenByAmqp,
} from '../../../../src/openstack/notifications/connection.ts';
import {
  type Notification,
  nothingHappened,
  readNotification,
} from '../../../../src/openstack/notifications/envelope.ts';
import { Subscription } from '../../../../src/openstack/notifications/subscription.ts';
import { createLogger } from '../../../../src/process/log.ts';
import { testCertificate, testKey } from '../../../../src/requests/test-certificate.ts';
import { systemClock } from '../../../../src/time/clock.ts';

// Real OpenStack with RabbitMQ.
const times = { answerMs: 5_000, heartbeatSeconds: 1, bindMs: 1_000, missingMs: 200 };
const all = ['neutron', 'nova', 'keystone'];
const server = '32edb6b7-f24d-42cc-bae0-0ea261282c04';

let stack: Stack;
let tenant: Tenant;
let proxy: FaultProxy;
let stop: AbortController;
let bound: (readonly string[])[];
let read: Notification[];

beforeAll(async () => {
  stack = await useStack((line) => process.stderr.write(`${line}\n`));
  tenant = await openTenant(stack, 'notifications');
  proxy = await startFaultProxy({ target: `tcp://${stack.rabbit.host}:${stack.rabbit.port}` });
});

afterAll(async () => {
  await proxy?.close();
  await tenant?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  stop = new AbortController();
  bound = [];
  read = [];
});

afterEach(() => {
  stop.abort();
  proxy.clear();
});

function login(change: Partial<BrokerLogin> = {}, port = stack.rabbit.port): BrokerLogin {
  const { host, username, password } = stack.rabbit;
  const address = { host, port, tls: false };
  return { address, username, password, virtualHost: '/', tls: {}, isTrusted: true, ...change };
}

const listener = {
  onBound: (exchanges: readonly string[]) => bound.push(exchanges),
  onMessage: (body: Buffer | undefined) => read.push(readNotification(body)),
};

/** Listens to the end; resolves to the cause. */
async function listen(as = login()): Promise<BrokerFailure> {
  return listenByAmqp(systemClock, times)(as, listener, stop.signal).catch(
    (error: unknown) => error as BrokerFailure,
  );
}

async function listening(as = login()) {
  const ended = listen(as);
  await expect.poll(() => bound.at(-1)).toEqual(all);
  return { ended };
}

/** All events so far. */
function happenings() {
  return read.flatMap((one) => (one.kind === 'happening' ? one.happening : []));
}

function message(payload: unknown, event = 'port.update.end'): string {
  const inner = JSON.stringify({ event_type: event, payload });
  return JSON.stringify({ 'oslo.version': '2.0', 'oslo.message': inner });
}

const good = message({ port: { id: server, device_id: server } });
const info = { exchange: 'neutron', key: 'notifications.info' };

async function publish(...messages: Published[]): Promise<void> {
  return stack.rabbit.publish(messages);
}

/** Names of the listeners' current queues. */
async function queues(): Promise<string[]> {
  const names = await stack.rabbit.control('list_queues', 'name');
  return names.split('\n').filter((name) => name.startsWith('amq.gen-'));
}

describe('notifications from real OpenStack', () => {
  it('notifications name the server of an attached, detached or deleted port, in few messages', async () => {
    const network = await tenant.createNetwork({ name: 'n' });
    await tenant.createSubnet({ networkId: network.id, cidr: '10.7.0.0/24' });
    const { id } = await tenant.createServer({ name: 's', networkIds: [network.id] });
    const port = await tenant.createPort({ networkId: network.id });
    await listening();
    await tenant.attach(id, { portId: port.id });
    await expect
      .poll(happenings)
      .toContainEqual({ ...nothingHappened, servers: [id], ports: [port.id] });
    expect(read.length).toBeLessThan(20);
    read.length = 0;
    await tenant.detach(id, port.id);
    await expect.poll(happenings).toContainEqual({ ...nothingHappened, ports: [port.id] });
    read.length = 0;
    const { port_id: own } = await tenant.attach(id, { networkId: network.id });
    await tenant.deletePort(own);
    await expect.poll(() => happenings().some(({ ports }) => ports.includes(own))).toBe(true);
    read.length = 0;
    await tenant.deleteServer(id);
    await expect.poll(() => happenings().some(({ servers }) => servers.includes(id))).toBe(true);
    expect(read.filter(({ kind }) => kind === 'unreadable')).toEqual([]);
  });

  it('a notification reports an account that lost its rights', async () => {
    const credential = await tenant.createApplicationCredential();
    await listening();
    await credential.revoke();
    await expect.poll(happenings).toContainEqual({ ...nothingHappened, accounts: [credential.id] });
  });
});

describe("the listener's queue", () => {
  it('the queue is deleted with the connection', async () => {
    const before = await queues();
    const { ended } = await listening();
    const own = (await queues()).filter((name) => !before.includes(name));
    expect(own).toHaveLength(1);
    stop.abort();
    await ended;
    await expect.poll(queues).toEqual(before);
  });

  it('the listener reports a queue deleted by an administrator', async () => {
    const before = await queues();
    const { ended } = await listening();
    const [own = ''] = (await queues()).filter((name) => !before.includes(name));
    await stack.rabbit.control('eval', killQueue(own));
    expect(await ended).toMatchObject({ kind: 'queueGone' });
  });
});

/** rabbitmqctl may not delete an exclusive queue of a foreign connection; the broker may. */
function killQueue(name: string): string {
  const resource = `{resource, <<"/">>, queue, <<"${name}">>}`;
  return `{ok, Q} = rabbit_amqqueue:lookup(${resource}), rabbit_amqqueue:delete(Q, false, false, <<"test">>).`;
}

describe('a login', () => {
  it.each([
    ['refused', { password: 'wrong' }],
    ['virtualHost', { virtualHost: 'none' }],
  ] as const)('the listener reports a refused login: %s', async (kind, change) => {
    expect(await listen(login(change))).toMatchObject({ kind });
  });

  it('the listener needs only rights for a private queue, and to read the exchanges', async () => {
    const may = await userWith(
      '^amq\\.gen-.*',
      '^amq\\.gen-.*',
      '^(amq\\.gen-.*|neutron|nova|keystone)$',
    );
    await listening(login(may));
    await publish({ ...info, body: good });
    await expect.poll(happenings).toHaveLength(1);
  });

  it('an exchange without read rights does not affect the remaining exchanges', async () => {
    const may = await userWith('^amq\\.gen-.*', '^amq\\.gen-.*', '^(amq\\.gen-.*|neutron)$');
    void listen(login(may));
    await expect.poll(() => bound.at(-1)).toEqual(['neutron']);
    await publish({ ...info, body: good });
    await expect.poll(happenings).toHaveLength(1);
  });

  it('the listener reports missing rights to create a queue', async () => {
    expect(await listen(login(await userWith('^$', '^$', '.*')))).toMatchObject({
      kind: 'forbidden',
    });
  });
});

async function userWith(...permissions: readonly string[]) {
  const { rabbit } = stack;
  const username = `listener-${permissions.join('').length}`;
  const users = (await rabbit.control('list_users')).split('\n');
  const isThere = users.some((line) => line.split('\t')[0] === username);
  if (!isThere) await rabbit.control('add_user', username, 'p');
  await rabbit.control('set_permissions', username, ...permissions);
  return { username, password: 'p' };
}

it('the listener binds a missing exchange when the exchange appears, and never creates an exchange', async () => {
  const { rabbit } = stack;
  await listening();
  await rabbit.control('eval', deleteExchange('keystone'));
  try {
    await expect.poll(() => bound.at(-1)).toEqual(['neutron', 'nova']);
    const exchanges = await rabbit.control('list_exchanges', 'name');
    expect(exchanges.split('\n')).not.toContain('keystone');
  } finally {
    // Keystone declares the exchange only when a process connects, so the test declares the exchange.
    await rabbit.control('eval', declareExchange('keystone'));
  }
  await expect.poll(() => bound.at(-1)).toEqual(all);
});

/** Declaration in the form of oslo.messaging. */
function declareExchange(name: string): string {
  const resource = `{resource, <<"/">>, exchange, <<"${name}">>}`;
  return `rabbit_exchange:declare(${resource}, topic, false, false, false, [], <<"test">>).`;
}

function deleteExchange(name: string): string {
  return `rabbit_exchange:delete({resource, <<"/">>, exchange, <<"${name}">>}, false, <<"test">>).`;
}

describe('a broker with TLS', () => {
  it('a broker with TLS is accepted when the certificate is valid, or verification is off', async () => {
    await using secure = await withTls();
    const address = { host: '127.0.0.1', port: secure.port, tls: true };
    const untrusted = await listen(login({ address }));
    expect(untrusted).toMatchObject({ kind: 'certificate' });
    for (const tls of [{ ca: testCertificate }, { insecure: true }]) {
      bound.length = 0;
      const { ended } = await listening(login({ address, tls }));
      stop.abort();
      await ended;
      stop = new AbortController();
    }
  });
});

/** TLS before the same RabbitMQ. */
async function withTls() {
  const { host, port } = stack.rabbit;
  const secure = createServer({ cert: testCertificate, key: testKey }, (socket) => {
    const onward = connect({ host, port });
    for (const one of [socket, onward]) {
      one
        .on('error', () => undefined)
        .on('close', () => void [socket, onward].map((x) => x.destroy()));
    }
    socket.pipe(onward).pipe(socket);
  });
  secure.listen(0, '127.0.0.1');
  await once(secure, 'listening');
  const { port: own } = secure.address() as AddressInfo;
  return { port: own, [Symbol.asyncDispose]: async () => void secure.close() };
}

describe('a faulty broker', () => {
  it('malformed messages are skipped and valid messages are read', async () => {
    await listening();
    const bodies = ['', '{', '7', '[]', 'x'.repeat(100), message(7), message(null, 'a.b.end')];
    const odd = bodies.map((body) => ({ ...info, body }));
    await publish(
      ...odd,
      { ...info, body: good, type: 'text/plain' },
      { ...info, body: '{"oslo.version":"9.0","oslo.message":"{}"}' },
      { ...info, bytes: 10 * 1024 * 1024 },
      { ...info, body: good },
    );
    const one = { ...nothingHappened, servers: [server], ports: [server] };
    const whole = { ...nothingHappened, whole: true };
    await expect.poll(happenings).toEqual([one, whole, one]);
    expect(read.length).toBe(odd.length + 4);
  });

  it('a broker may flood: the listener reads every message, and the process survives', async () => {
    await listening();
    const before = process.memoryUsage();
    let turns = 0;
    const turning = setInterval(() => turns++, 10);
    await publish({ ...info, body: good, times: 10_000 });
    await expect.poll(() => read.length).toBe(10_000);
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);
    const { rss } = process.memoryUsage();
    expect(rss - before.rss).toBeLessThan(200 * 1024 * 1024);
  });

  it('the listener leaves a broker that sends no heartbeat', async () => {
    const { ended } = await listening(login({}, proxy.port));
    proxy.add({ fault: 'black-hole' });
    expect(await ended).toMatchObject({
      kind: 'unreachable',
      message: 'no heartbeat from the broker',
    });
    // A broker that accepts connections and never answers.
    const quick = listenByAmqp(systemClock, { ...times, answerMs: 300 });
    await expect(quick(login({}, proxy.port), listener, stop.signal)).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });

  it('the listener reports a closed connection', async () => {
    const { ended } = await listening(login({}, proxy.port));
    proxy.add({ fault: 'gone' });
    expect(await ended).toMatchObject({ kind: 'unreachable' });
  });
});

it('the subscription reconnects to a killed RabbitMQ and reports the gap', async () => {
  const { username, password, host, port } = stack.rabbit;
  let gaps = 0;
  const subscription = new Subscription({
    addresses: [{ host, port, tls: false }],
    username,
    password,
    virtualHost: '/',
    isTrusted: () => true,
    tls: async () => ({}),
    listen: listenByAmqp(systemClock, times),
    clock: systemClock,
    random: Math.random,
    log: createLogger({ part: 'test', level: 'silent' }),
    onMessage: listener.onMessage,
    onGap: () => gaps++,
  });
  const over = subscription.run(stop.signal);
  await expect.poll(() => gaps).toBe(1);
  await stack.rabbit.restart();
  // Neutron declares the exchange when it reconnects.
  const stands = () =>
    subscription.state.kind === 'connected' && subscription.state.exchanges.includes('neutron');
  await expect.poll(stands, { timeout: 90_000 }).toBe(true);
  expect(gaps).toBeGreaterThan(1);
  await publish({ ...info, body: good });
  await expect.poll(happenings).toHaveLength(1);
  stop.abort();
  await over;
});
