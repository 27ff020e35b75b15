import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import type { Fault } from './testing/front.ts';

let fixture: BehindFront;

beforeEach(async () => {
  fixture = await openBehindFront();
});

afterEach(async () => fixture[Symbol.asyncDispose]());

type Item = Readonly<Record<string, unknown>>;
type Change = Readonly<Record<string, unknown>>;

/** Changes the items selected by `isMeant`, in lists and in answers by id. */
function withChanges(isMeant: (item: Item) => boolean, change: Change): Fault {
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
  ])(
    'a port with malformed %s = %j keeps its NIC, is named in Ready, and delays no further port',
    async (field, value) => {
      const portId = fixture.scene.nics('worker-1')[0]?.split('=')[1] ?? '';
      fixture.front.spoil(
        ports,
        withChanges(({ id }) => id === portId, { [field]: value }),
      );
      fixture.attach(0);
      fixture.attach(1);
      for (let n = 0; n < 3; n++) {
        expect(await fixture.look()).toMatch(
          new RegExp(`^False NeutronPortError: port ${portId} of server \\S+ .*: ${field}`),
        );
      }
      expect(fixture.nics()).toEqual(['multinic0', 'multinic1', 'multinic0', 'multinic1']);
      expect(fixture.scene.nics('worker-1')[0]).toBe(`multinic0=${portId}`);
      fixture.front.heal();
      expect(await fixture.look()).toMatch(/^True /);
      expect(fixture.nics()).toEqual(['multinic0', 'multinic1', 'multinic0', 'multinic1']);
    },
  );

  it('a port without a readable device_id keeps its NIC, and is named in Ready', async () => {
    const portId = fixture.scene.nics('worker-1')[0]?.split('=')[1] ?? '';
    fixture.front.spoil(
      ports,
      withChanges(({ id }) => id === portId, { device_id: null }),
    );
    fixture.attach(1);
    const message = `port ${portId} of an unknown server cannot be read`;
    expect(await fixture.look()).toContain(`False NeutronPortError: ${message}`);
    expect(fixture.nics()).toEqual(['multinic0', 'multinic0', 'multinic1']);
  });
});

describe('a server with a malformed field', () => {
  it.each([
    ['status', null],
    ['metadata', null],
    ['metadata', { role: 7 }],
  ])(
    'a server with malformed %s = %j keeps its node, is named in Ready, and delays no further server',
    async (field, value) => {
      fixture.front.spoil(
        servers,
        withChanges(({ name }) => name === 'worker-1', { [field]: value }),
      );
      fixture.attach(1);
      for (let n = 0; n < 3; n++) {
        expect(await fixture.look()).toMatch(
          new RegExp(`^False NovaServerError: server \\S+ cannot be read .*\\b${field}`),
        );
      }
      expect(fixture.nics()).toEqual(['multinic0', 'multinic0', 'multinic1']);
    },
  );
});
