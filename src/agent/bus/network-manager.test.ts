import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultyBus } from '../../../test/fixtures/faulty-bus.ts';
import { disconnectNic, unmanageNic } from './network-manager.ts';

const nic = { name: 'ens5', mac: 'fa:16:3e:00:00:05' };
let folder: string;
let bus: FaultyBus;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'multinic-bus-'));
  bus = await FaultyBus.listen(join(folder, 'socket'));
});
afterEach(async () => {
  await bus.close();
  rmSync(folder, { recursive: true });
});

const release = async (signal = new AbortController().signal) =>
  (await disconnectNic(bus.path, nic, signal)) ?? (await unmanageNic(bus.path, nic, signal));

describe('NetworkManager', () => {
  test('lets go of a NIC that it took by a profile of its own making', async () => {
    expect(await release()).toBeUndefined();
    expect(bus.unmanaged).toEqual(['/org/freedesktop/NetworkManager/Devices/3']);
  });

  test('is understood whatever pieces its answers come in', async () => {
    bus.pieces = 1;
    expect(await release()).toBeUndefined();
  });

  test('is not asked to when somebody made the profile', async () => {
    bus.flags = 0;
    expect(await release()).toBe('its profile Wired connection 1 is none that it made by itself');
    expect(bus.unmanaged).toEqual([]);
  });

  // NM_SETTINGS_CONNECTION_FLAG_EXTERNAL; a volatile one before 1.26, which knew no such flag.
  test.each([0x3 | 0x8, 0x3 | 0x4, 0xf])(
    'is not asked to when the profile says what others have set on the NIC: %i',
    async (flags) => {
      bus.flags = flags;
      expect(await release()).toBe(
        'its profile Wired connection 1 is of what others have set on the NIC',
      );
      expect(bus.unmanaged).toEqual([]);
    },
  );

  test('is not asked to when it means another NIC', async () => {
    bus.mac = 'FA:16:3E:00:00:06';
    expect(await release()).toBe('it has FA:16:3E:00:00:06 as ens5');
    expect(bus.unmanaged).toEqual([]);
  });

  test('takes what it has set off the NIC before it lets go of it, once', async () => {
    const seen: string[] = [];
    bus.onDisconnected = () => void seen.push(`disconnected, ${bus.unmanaged.length} left alone`);
    expect(await release()).toBeUndefined();
    expect(await release()).toBeUndefined();
    expect(seen).toEqual(['disconnected, 0 left alone']);
  });

  test('lets go of a NIC that it has nothing on, as when an earlier run was cut short', async () => {
    bus.active = '/';
    bus.refuses = 'Disconnect';
    expect(await release()).toBeUndefined();
    expect(bus.unmanaged).toHaveLength(1);
  });

  test('keeps the NIC when it does not take off what it has set', async () => {
    bus.refuses = 'Disconnect';
    await expect(release()).rejects.toThrow('AccessDenied: no Disconnect for you');
    expect(bus.unmanaged).toEqual([]);
  });

  test('may refuse', async () => {
    bus.refuses = 'Set';
    await expect(release()).rejects.toThrow('AccessDenied: no Set for you');
  });

  test('has done what it was asked when it hangs up instead of saying so: the next run goes on', async () => {
    bus.cutsAt = 'Disconnect';
    await expect(release()).rejects.toThrow('the bus has hung up');
    bus.cutsAt = 'Set';
    await expect(release()).rejects.toThrow('the bus has hung up');
    bus.cutsAt = '';
    expect(await release()).toBeUndefined();
  });

  test('may not know the NIC', async () => {
    bus.refuses = 'GetDeviceByIpIface';
    await expect(release()).rejects.toThrow('AccessDenied: no GetDeviceByIpIface for you');
  });
});

describe('a bus that', () => {
  test('lets nobody in is told of', async () => {
    bus.greeting = 'REJECTED EXTERNAL';
    await expect(release()).rejects.toThrow('the bus lets nobody in: REJECTED EXTERNAL');
  });

  test.each(['auth', 'Hello', 'Get', 'Disconnect', 'Set'])(
    'hangs at %s is waited for no longer than the signal',
    async (at) => {
      const enough = new AbortController();
      bus.hangsAt = at;
      bus.onHang = () => enough.abort(new Error('enough'));
      await expect(release(enough.signal)).rejects.toThrow('enough');
    },
  );

  test('answers calls that nobody made is not understood by these', async () => {
    bus.strays = true;
    expect(await release()).toBeUndefined();
  });

  test('never comes to an end of its greeting is told of', async () => {
    bus.greeting = 'x'.repeat(3_000_000);
    await expect(release()).rejects.toThrow('the bus says too much');
  });

  test.each(['', 'Get', 'Hello'])(
    'is left in the end, whatever it refuses: %s',
    async (refuses) => {
      bus.refuses = refuses;
      await Promise.allSettled([release()]);
      await expect.poll(() => bus.clients).toBe(0);
    },
  );

  test('hangs up in the middle of an answer is told of', async () => {
    bus.cutsAt = 'Get';
    await expect(release()).rejects.toThrow('the bus has hung up');
  });

  test.each([
    ['no message', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'not a message'],
    ['a message without end', message(0x7f_ff_ff_ff), 'a message of'],
    [
      'a header that ends too early',
      message(0, [1, 1, 0x6f, 0, 0xff, 0xff, 0, 0]),
      'ends too early',
    ],
    ['a value nobody knows', message(0, [1, 1, 0x7b, 0, 0, 0, 0, 0]), 'a value of the type {'],
  ])('sends %s is told of', async (_, bytes, words) => {
    bus.says = Buffer.from(bytes as Uint8Array);
    await expect(release()).rejects.toThrow(words);
  });

  test('is not there is told of', async () => {
    await expect(
      disconnectNic(join(folder, 'none'), nic, new AbortController().signal),
    ).rejects.toThrow('ENOENT');
  });
});

/** The fixed part of a message, and what its header is said to be. */
function message(bodyLength: number, header: readonly number[] = []): Buffer {
  const fixed = Buffer.alloc(16);
  fixed.set([0x6c, 2, 0, 1]);
  fixed.writeUInt32LE(bodyLength, 4);
  fixed.writeUInt32LE(header.length, 12);
  return Buffer.concat([fixed, Buffer.from(header), Buffer.alloc((8 - (header.length % 8)) % 8)]);
}
