import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { encodeFrame, FrameReader, frameTypes, protocolHeader } from '../amqp/frames.ts';
import { long, longLong, longText, octet, short, shortText, table } from '../amqp/values.ts';

/** Faulty replies by requested method (`class.number`); each replaces the normal reply. */
export type FaultyReplies = Readonly<
  Record<string, (connection: FakeConnection, channel: number) => void>
>;

/** Broker side of one connection. */
export class FakeConnection {
  readonly socket: Socket;
  /** Received methods, `class.number`, in order. */
  readonly requests: string[] = [];
  /** Latest arguments by method. */
  readonly lastArguments = new Map<string, Buffer>();
  heartbeats = 0;

  constructor(socket: Socket) {
    this.socket = socket;
  }

  method(channel: number, type: number, number: number, ...values: readonly Buffer[]): void {
    const payload = Buffer.concat([short(type), short(number), ...values]);
    this.socket.write(encodeFrame({ type: frameTypes.method, channel, payload }));
  }

  /** Closes the connection (class 10) or a channel (class 20). */
  close(type: 10 | 20, channel: number, code: number, text: string): void {
    this.method(channel, type, type === 10 ? 50 : 40, short(code), shortText(text), long(0));
  }

  beat(): void {
    this.#frame(frameTypes.heartbeat, 0, Buffer.alloc(0));
  }

  /** Sends a message in pieces with `piece` bytes; `size` is the size in its header. */
  deliver(body: Buffer, { tag = 1n, piece = 1_000, size = BigInt(body.length) } = {}): void {
    const delivery = [
      shortText('tag'),
      longLong(tag),
      octet(0),
      shortText('neutron'),
      shortText('k'),
    ];
    this.method(1, 60, 60, ...delivery);
    this.header(size);
    for (let at = 0; at < body.length; at += piece) this.body(body.subarray(at, at + piece));
  }

  header(size: bigint): void {
    this.#frame(
      frameTypes.header,
      1,
      Buffer.concat([short(60), short(0), longLong(size), short(0)]),
    );
  }

  body(piece: Buffer): void {
    this.#frame(frameTypes.body, 1, piece);
  }

  #frame(type: number, channel: number, payload: Buffer): void {
    this.socket.write(encodeFrame({ type, channel, payload }));
  }
}

const normalReplies: FaultyReplies = {
  hello: (to) =>
    to.method(0, 10, 10, octet(0), octet(9), table({}), longText('PLAIN'), longText('en_US')),
  '10.11': (to) => to.method(0, 10, 30, short(2_047), long(131_072), short(60)),
  '10.31': () => undefined,
  '10.40': (to) => to.method(0, 10, 41, octet(0)),
  '10.50': (to) => to.method(0, 10, 51),
  '20.10': (to, channel) => to.method(channel, 20, 11, long(0)),
  '20.40': (to, channel) => to.method(channel, 20, 41),
  '20.41': () => undefined,
  '50.10': (to, channel) => to.method(channel, 50, 11, shortText('amq.gen-1'), long(0), long(0)),
  '50.20': (to, channel) => to.method(channel, 50, 21),
  '60.10': (to, channel) => to.method(channel, 60, 11),
  '60.20': (to, channel) => to.method(channel, 60, 21, shortText('tag')),
  '60.80': () => undefined,
};

/** Starts a minimal RabbitMQ on loopback, with the parts that a consumer uses. */
export async function startFakeBroker(faulty: FaultyReplies = {}) {
  const connections: FakeConnection[] = [];
  const server = createServer((socket) => {
    const connection = new FakeConnection(socket);
    connections.push(connection);
    serve(connection, { ...normalReplies, ...faulty });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    port,
    connections,
    [Symbol.dispose]() {
      server.close();
      for (const { socket } of connections) socket.destroy();
    },
  };
}

function serve(connection: FakeConnection, answers: FaultyReplies): void {
  const frames = new FrameReader();
  let hasGreeted = false;
  connection.socket.on('error', () => undefined);
  connection.socket.on('data', (bytes: Buffer) => {
    const rest = hasGreeted ? bytes : bytes.subarray(protocolHeader.length);
    if (!hasGreeted) answers['hello']?.(connection, 0);
    hasGreeted = true;
    for (const { type, channel, payload } of frames.read(rest)) {
      if (type === frameTypes.heartbeat) connection.heartbeats++;
      if (type !== frameTypes.method) continue;
      const name = `${payload.readUInt16BE(0)}.${payload.readUInt16BE(2)}`;
      connection.requests.push(name);
      connection.lastArguments.set(name, payload.subarray(4));
      answers[name]?.(connection, channel);
    }
  });
}
