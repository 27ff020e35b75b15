import { long, longLong, longText, octet, short, shortText, table, ValueReader } from './values.ts';

/** Methods by class and number (specification, 1.3-1.8). */
const ids = {
  start: [10, 10],
  startOk: [10, 11],
  tune: [10, 30],
  tuneOk: [10, 31],
  open: [10, 40],
  openOk: [10, 41],
  close: [10, 50],
  closeOk: [10, 51],
  blocked: [10, 60],
  unblocked: [10, 61],
  channelOpen: [20, 10],
  channelOpenOk: [20, 11],
  channelClose: [20, 40],
  channelCloseOk: [20, 41],
  queueDeclare: [50, 10],
  queueDeclareOk: [50, 11],
  queueBind: [50, 20],
  queueBindOk: [50, 21],
  qos: [60, 10],
  qosOk: [60, 11],
  consume: [60, 20],
  consumeOk: [60, 21],
  cancel: [60, 30],
  deliver: [60, 60],
  ack: [60, 80],
} as const;
export type MethodName = keyof typeof ids;

export interface Method {
  /** Undefined: one that we never asked for. */
  readonly name: MethodName | undefined;
  readonly values: ValueReader;
}

export function readMethod(payload: Buffer): Method {
  const values = new ValueReader(payload);
  const [type, number] = [values.short(), values.short()];
  const names = Object.keys(ids) as MethodName[];
  return { name: names.find((one) => ids[one][0] === type && ids[one][1] === number), values };
}

function method(name: MethodName, ...values: readonly Buffer[]): Buffer {
  const [type, number] = ids[name];
  return Buffer.concat([short(type), short(number), ...values]);
}

const none = octet(0);

/** What we say. */
export const encode = {
  startOk: (username: string, password: string) =>
    method(
      'startOk',
      table({
        product: 'MultiNIC',
        connection_name: 'multinic-operator',
        capabilities: {
          // That a login is refused, and that a queue is gone, is said and not shown by silence.
          authentication_failure_close: true,
          consumer_cancel_notify: true,
        },
      }),
      shortText('PLAIN'),
      longText(`\u0000${username}\u0000${password}`),
      shortText('en_US'),
    ),
  tuneOk: (channels: number, frame: number, heartbeatSeconds: number) =>
    method('tuneOk', short(channels), long(frame), short(heartbeatSeconds)),
  open: (virtualHost: string) => method('open', shortText(virtualHost), none, none),
  close: () => method('close', short(200), shortText(''), short(0), short(0)),
  closeOk: () => method('closeOk'),
  channelOpen: () => method('channelOpen', none),
  channelClose: () => method('channelClose', short(200), shortText(''), short(0), short(0)),
  channelCloseOk: () => method('channelCloseOk'),
  /** A queue that the broker names, of this connection alone: bits exclusive and auto-delete. */
  queueDeclare: () => method('queueDeclare', short(0), none, octet(0b1100), table({})),
  queueBind: (queue: string, exchange: string, key: string) =>
    method('queueBind', short(0), ...[queue, exchange, key].map(shortText), none, table({})),
  qos: (prefetch: number) => method('qos', long(0), short(prefetch), none),
  consume: (queue: string) =>
    method('consume', short(0), shortText(queue), shortText(''), none, table({})),
  ack: (deliveryTag: bigint) => method('ack', longLong(deliveryTag), none),
};
