import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import type { Fault } from './testing/front.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let place: BehindFront;

beforeEach(async () => {
  place = await openBehindFront();
});

afterEach(async () => place[Symbol.asyncDispose]());

const faults: Readonly<Record<string, Fault>> = {
  'says 503': (_, response) => void response.writeHead(503).end(),
  'closes every connection': (_, response) => void response.destroy(),
  'hangs until it is given up': () => void setImmediate(() => place.clock.skip(30_000)),
};

it.each(Object.entries(faults))(
  'a cloud that %s for a day is asked once a minute, loses no NIC and is found within a minute',
  async (_what, fault) => {
    const { front, scene, clock } = place;
    front.spoil(/./, fault);
    const before = front.asked.length;
    const began = clock.monotonicMs();
    let nextMs = 0;
    while (clock.monotonicMs() - began < dayMs) nextMs = await place.pass(nextMs);
    expect(scene.ready()).toMatch(/^False /);
    expect(place.nics()).toEqual(['multinic0', 'multinic0']);
    // Keystone alone, once its token is over: until then Neutron and Nova each fail for themselves.
    const minutes = (clock.monotonicMs() - began) / minuteMs;
    expect(front.asked.length - before).toBeLessThan(minutes + 90);
    place.attach(0);
    front.heal();
    const healed = clock.monotonicMs();
    while (!scene.ready().startsWith('True')) nextMs = await place.pass(nextMs);
    expect(clock.monotonicMs() - healed).toBeLessThanOrEqual(minuteMs);
    expect(place.nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
  },
);
