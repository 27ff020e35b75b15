import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import type { Fault } from './testing/front.ts';

let place: BehindFront;

beforeEach(async () => {
  place = await openBehindFront();
});

afterEach(async () => place[Symbol.asyncDispose]());

type Item = Readonly<Record<string, unknown>>;
type Change = Readonly<Record<string, unknown>>;

/** Changes the items of lists, and answers by id, that `isMeant` names. */
function spoiled(isMeant: (item: Item) => boolean, change: Change): Fault {
  const changed = (item: unknown): unknown =>
    isMeant(item as Item) ? { ...(item as Item), ...change } : item;
  return ({ status, body }, response) => {
    const answer = JSON.parse(body.toString()) as Item;
    const entries = Object.entries(answer).map(([key, value]) => {
      if (key.endsWith('_links')) return [key, value];
      return [key, Array.isArray(value) ? value.map(changed) : changed(value)];
    });
    response.writeHead(status).end(JSON.stringify(Object.fromEntries(entries)));
  };
}

const ports = /GET \/network\/v2\.0\/ports/;
const servers = /GET \/compute\/.*servers/;

describe('a port with a malformed field', () => {
  it.each([
    ['revision_number', null],
    ['status', null],
    ['mac_address', null],
    ['fixed_ips', null],
    ['fixed_ips', [{ subnet_id: null, ip_address: '10.0.10.9' }]],
    ['network_id', 7],
  ])('keeps its NIC, is named, and holds up no other port: %s = %j', async (field, value) => {
    const portId = place.scene.nics('worker-1')[0]?.split('=')[1] ?? '';
    place.front.spoil(
      ports,
      spoiled(({ id }) => id === portId, { [field]: value }),
    );
    place.attach(0);
    place.attach(1);
    for (let n = 0; n < 3; n++) {
      expect(await place.look()).toMatch(
        new RegExp(`^False NeutronPortError: port ${portId} of server \\S+ .*: ${field}`),
      );
    }
    expect(place.nics()).toEqual(['multinic0', 'multinic1', 'multinic0', 'multinic1']);
    expect(place.scene.nics('worker-1')[0]).toBe(`multinic0=${portId}`);
    place.front.heal();
    expect(await place.look()).toMatch(/^True /);
    expect(place.nics()).toEqual(['multinic0', 'multinic1', 'multinic0', 'multinic1']);
  });

  it('keeps its NIC, and is named, when it does not name its server', async () => {
    const portId = place.scene.nics('worker-1')[0]?.split('=')[1] ?? '';
    place.front.spoil(
      ports,
      spoiled(({ id }) => id === portId, { device_id: null }),
    );
    place.attach(1);
    const place1 = `port ${portId} of an unknown server cannot be read`;
    expect(await place.look()).toContain(`False NeutronPortError: ${place1}`);
    expect(place.nics()).toEqual(['multinic0', 'multinic0', 'multinic1']);
  });
});

describe('a server with a malformed field', () => {
  it.each([
    ['status', null],
    ['metadata', null],
    ['metadata', { role: 7 }],
  ])('keeps its node, is named, and holds up no other server: %s = %j', async (field, value) => {
    place.front.spoil(
      servers,
      spoiled(({ name }) => name === 'worker-1', { [field]: value }),
    );
    place.attach(1);
    for (let n = 0; n < 3; n++) {
      expect(await place.look()).toMatch(
        new RegExp(`^False NovaServerError: server \\S+ cannot be read .*\\b${field}`),
      );
    }
    expect(place.nics()).toEqual(['multinic0', 'multinic0', 'multinic1']);
  });
});
