import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultyBus } from '../../../test/fixtures/faulty-bus.ts';
import { activateNic, disconnectNic, unmanageNic } from './network-manager.ts';

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

describe('releasing a NIC from NetworkManager', () => {
  test('NetworkManager releases a NIC with an automatic profile', async () => {
    expect(await release()).toBeUndefined();
    expect(bus.unmanaged).toEqual(['/org/freedesktop/NetworkManager/Devices/3']);
  });

  test('replies are understood when split into single bytes', async () => {
    bus.pieces = 1;
    expect(await release()).toBeUndefined();
  });

  test("a NIC with a user's profile is not released", async () => {
    bus.flags = 0;
    expect(await release()).toBe('profile "Wired connection 1" is not auto-generated');
    expect(bus.unmanaged).toEqual([]);
  });

  test("NetworkManager releases a NIC with an adopted user's profile, and activates the profile again", async () => {
    bus.flags = 0;
    const adopted = { ...nic, isAdopted: true };
    const { signal } = new AbortController();
    expect(await disconnectNic(bus.path, adopted, signal)).toBeUndefined();
    expect(bus.active).toBe('/');
    expect(await activateNic(bus.path, nic, signal)).toBeUndefined();
    expect(bus.activated).toEqual(['/org/freedesktop/NetworkManager/Devices/3']);
  });

  // NM_SETTINGS_CONNECTION_FLAG_EXTERNAL, and volatile, used before 1.26, which had no such flag.
  test.each([0x3 | 0x8, 0x3 | 0x4, 0xf])(
    'a NIC whose profile mirrors foreign configuration is not released: flags %i',
    async (flags) => {
      bus.flags = flags;
      expect(await release()).toBe('profile "Wired connection 1" mirrors foreign configuration');
      expect(bus.unmanaged).toEqual([]);
    },
  );

  test("a NIC is not released if NetworkManager's device has another MAC", async () => {
    bus.mac = 'FA:16:3E:00:00:06';
    expect(await release()).toBe('device ens5 has MAC FA:16:3E:00:00:06');
    expect(bus.unmanaged).toEqual([]);
  });

  test('NetworkManager disconnects the NIC before unmanaging it, once', async () => {
    const seen: string[] = [];
    bus.onDisconnected = () => void seen.push(`disconnected, ${bus.unmanaged.length} left alone`);
    expect(await release()).toBeUndefined();
    expect(await release()).toBeUndefined();
    expect(seen).toEqual(['disconnected, 0 left alone']);
  });

  test('a NIC without an active connection is unmanaged directly', async () => {
    bus.active = '/';
    bus.refuses = 'Disconnect';
    expect(await release()).toBeUndefined();
    expect(bus.unmanaged).toHaveLength(1);
  });

  test('a refused Disconnect rejects, and the NIC stays managed', async () => {
    bus.refuses = 'Disconnect';
    await expect(release()).rejects.toThrow('AccessDenied: no Disconnect for you');
    expect(bus.unmanaged).toEqual([]);
  });

  test('a refused Set rejects', async () => {
    bus.refuses = 'Set';
    await expect(release()).rejects.toThrow('AccessDenied: no Set for you');
  });

  test('a connection lost after a call rejects, and the next run continues', async () => {
    bus.cutsAt = 'Disconnect';
    await expect(release()).rejects.toThrow('the system bus closed the connection');
    bus.cutsAt = 'Set';
    await expect(release()).rejects.toThrow('the system bus closed the connection');
    bus.cutsAt = '';
    expect(await release()).toBeUndefined();
  });

  test('a NIC unknown to NetworkManager rejects', async () => {
    bus.refuses = 'GetDeviceByIpIface';
    await expect(release()).rejects.toThrow('AccessDenied: no GetDeviceByIpIface for you');
  });
});

describe('faulty buses', () => {
  test('a rejected authentication rejects', async () => {
    bus.greeting = 'REJECTED EXTERNAL';
    await expect(release()).rejects.toThrow(
      'the system bus refused authentication: REJECTED EXTERNAL',
    );
  });

  test.each(['auth', 'Hello', 'Get', 'Disconnect', 'Set'])(
    'a bus hanging at %s rejects when the signal aborts',
    async (at) => {
      const enough = new AbortController();
      bus.hangsAt = at;
      bus.onHang = () => enough.abort(new Error('enough'));
      await expect(release(enough.signal)).rejects.toThrow('enough');
    },
  );

  test('replies to foreign calls are ignored', async () => {
    bus.strays = true;
    expect(await release()).toBeUndefined();
  });

  test('an endless greeting rejects', async () => {
    bus.greeting = 'x'.repeat(3_000_000);
    await expect(release()).rejects.toThrow('the system bus sent more than 2097152 bytes');
  });

  test.each(['', 'Get', 'Hello'])(
    'the connection is closed in the end, with refused call: %s',
    async (refuses) => {
      bus.refuses = refuses;
      await Promise.allSettled([release()]);
      await expect.poll(() => bus.clients).toBe(0);
    },
  );

  test('a connection closed within a reply rejects', async () => {
    bus.cutsAt = 'Get';
    await expect(release()).rejects.toThrow('the system bus closed the connection');
  });

  test.each([
    ['no message', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'not a little-endian D-Bus message'],
    ['too long a message', message(0x7f_ff_ff_ff), 'exceeds the limit of 1048576'],
    ['a header that ends too early', message(0, [1, 1, 0x6f, 0, 0xff, 0xff, 0, 0]), 'is truncated'],
    [
      'a value with an unknown type',
      message(0, [1, 1, 0x7b, 0, 0, 0, 0, 0]),
      'unsupported D-Bus type {',
    ],
  ])('a bus sending %s rejects', async (_, bytes, words) => {
    bus.says = Buffer.from(bytes as Uint8Array);
    await expect(release()).rejects.toThrow(words);
  });

  test('a missing bus socket rejects', async () => {
    await expect(
      disconnectNic(join(folder, 'none'), nic, new AbortController().signal),
    ).rejects.toThrow('ENOENT');
  });
});

/** Fixed part of a message, and its declared header. */
function message(bodyLength: number, header: readonly number[] = []): Buffer {
  const fixed = Buffer.alloc(16);
  fixed.set([0x6c, 2, 0, 1]);
  fixed.writeUInt32LE(bodyLength, 4);
  fixed.writeUInt32LE(header.length, 12);
  return Buffer.concat([fixed, Buffer.from(header), Buffer.alloc((8 - (header.length % 8)) % 8)]);
}
