import { createServer, type Server, type Socket } from 'node:net';

const networkManager = '/org/freedesktop/NetworkManager';
const device = `${networkManager}/Devices/3`;

/** A call, as far as it tells what is to be answered. */
interface Asked {
  readonly serial: number;
  readonly member: string;
  readonly path: string;
  /** The strings in its body, in order. */
  readonly texts: readonly string[];
  /** The number, or boolean, that its body ends with. */
  readonly last: number;
}

/**
 * A system bus with one NetworkManager that has one NIC, ens5, on a profile; speaks D-Bus's own protocol and is as unkind as
 * it is told to be.
 */
export class UnkindBus {
  readonly path: string;
  /** Devices that are to be left alone from now on. */
  readonly unmanaged: string[] = [];
  mac = 'FA:16:3E:00:00:05';
  flags = 3;
  active = `${networkManager}/ActiveConnection/7`;
  greeting = 'OK 0123456789abcdef0123456789abcdef';
  /** Bytes of one piece of an answer; all of it where there is none. */
  pieces = 0;
  refuses = '';
  /** Whether each answer comes after one to a call that nobody made. */
  strays = false;
  hangsAt = '';
  onHang: () => void = () => undefined;
  cutsAt = '';
  /** What happens when a device is disconnected: only then does NetworkManager take off what it has set. */
  onDisconnected: () => Promise<void> | void = () => undefined;
  /** Said instead of the first answer. */
  says: Buffer | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(path: string) {
    this.path = path;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
      this.#serve(socket);
    });
  }

  static async listen(path: string): Promise<UnkindBus> {
    const bus = new UnkindBus(path);
    await new Promise<void>((resolve) => bus.#server.listen(path, resolve));
    return bus;
  }

  /** How many are connected. */
  get clients(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let unread = Buffer.alloc(0);
    let isIn = false;
    socket.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes]);
      if (!isIn && unread.includes('AUTH') && unread.includes('\r\n')) {
        unread = unread.subarray(unread.indexOf('\r\n') + 2);
        isIn = true;
        if (this.hangsAt === 'auth') this.onHang();
        else socket.write(`${this.greeting}\r\n`);
      }
      if (unread.subarray(0, 7).toString() === 'BEGIN\r\n') unread = unread.subarray(7);
      if (!isIn) return;
      for (let asked = callIn(unread); asked; asked = callIn(unread)) {
        unread = unread.subarray(asked.length);
        this.#answer(asked.call, socket);
      }
    });
  }

  #answer(call: Asked, socket: Socket): void {
    if (this.hangsAt === call.member) {
      this.onHang();
      return;
    }
    // Signals of others come at any time.
    const stray = this.strays ? [messageOf(3, call.serial + 1, [], 's', text('stray'))] : [];
    const reply = this.says ?? this.#replyTo(call);
    const bytes = Buffer.concat([messageOf(4, 1, [], ''), ...stray, reply]);
    if (this.cutsAt === call.member) {
      socket.end(bytes.subarray(0, bytes.length - 3));
      return;
    }
    const step = this.pieces || bytes.length;
    for (let at = 0; at < bytes.length; at += step) socket.write(bytes.subarray(at, at + step));
  }

  #replyTo(call: Asked): Buffer {
    const { member, texts, serial, path, last } = call;
    if (member === this.refuses) {
      const error: Field = [4, 's', 'org.freedesktop.DBus.Error.AccessDenied'];
      return messageOf(3, serial, [error], 's', text(`no ${member} for you`));
    }
    if (member === 'Hello') return messageOf(2, serial, [], 's', text(':1.42'));
    if (member === 'GetDeviceByIpIface') return messageOf(2, serial, [], 'o', text(device));
    if (member === 'Disconnect') {
      this.active = '/';
      void this.onDisconnected();
      return messageOf(2, serial, [], '');
    }
    if (member === 'Set') {
      if (texts.join(' ').includes('Device Managed') && last === 0) this.unmanaged.push(path);
      return messageOf(2, serial, [], '');
    }
    return messageOf(2, serial, [], 'v', this.#property(texts.at(-1) ?? ''));
  }

  #property(name: string): Buffer {
    if (name === 'Flags') return variant('u', uint32(this.flags));
    if (name === 'HwAddress') return variant('s', text(this.mac));
    if (name === 'ActiveConnection') return variant('o', text(this.active));
    if (name === 'Connection') return variant('o', text(`${networkManager}/Settings/2`));
    return variant('s', text('Wired connection 1'));
  }
}

type Field = readonly [code: number, type: 's', value: string];

const from: readonly Field[] = [
  [6, 's', ':1.42'],
  [7, 's', ':1.7'],
];

function messageOf(
  type: number,
  serial: number,
  fields: readonly Field[],
  signature: string,
  body: Buffer = Buffer.alloc(0),
) {
  const parts: Buffer[] = [];
  const add = (code: number, of: string, value: Buffer) => {
    const { length } = Buffer.concat(parts);
    const start = Buffer.from([code, of.length, ...Buffer.from(of), 0]);
    parts.push(Buffer.alloc((8 - (length % 8)) % 8), start, value);
  };
  if (type !== 4) add(5, 'u', uint32(serial));
  // A bus tells who says it and to whom; fields begin at multiples of eight.
  for (const [code, of, value] of [...fields, ...from]) add(code, of, text(value));
  if (signature) add(8, 'g', Buffer.from([signature.length, ...Buffer.from(signature), 0]));
  const head = Buffer.concat(parts);
  const fixed = Buffer.concat([
    Buffer.from([0x6c, type, 1, 1]),
    uint32(body.length),
    uint32(9),
    uint32(head.length),
  ]);
  return Buffer.concat([fixed, head, Buffer.alloc((8 - (head.length % 8)) % 8), body]);
}

function uint32(value: number): Buffer {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(value);
  return four;
}

function text(value: string): Buffer {
  return Buffer.concat([uint32(Buffer.byteLength(value)), Buffer.from(`${value}\0`)]);
}

/** The value begins at a multiple of four, as does a variant here. */
function variant(type: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([1, type.charCodeAt(0), 0, 0]), value]);
}

function words(part: Buffer): readonly string[] {
  return part.toString('latin1').match(/[\w.:/-]{2,}/g) ?? [];
}

/** The first call in the bytes, of which only what matters here is read. */
function callIn(bytes: Buffer): { readonly call: Asked; readonly length: number } | undefined {
  if (bytes.length < 16) return undefined;
  const head = 16 + Math.ceil(bytes.readUInt32LE(12) / 8) * 8;
  const length = head + bytes.readUInt32LE(4);
  if (bytes.length < length) return undefined;
  const named = words(bytes.subarray(16, head));
  const path = named.find((word) => word.startsWith('/')) ?? '';
  const member =
    named.find((word) => /^(Hello|Get|Set|Disconnect|GetDeviceByIpIface)$/.test(word)) ?? '';
  const call = {
    serial: bytes.readUInt32LE(8),
    member,
    path,
    texts: words(bytes.subarray(head, length)),
    last: length > head ? bytes.readUInt32LE(length - 4) : 0,
  };
  return { call, length };
}
