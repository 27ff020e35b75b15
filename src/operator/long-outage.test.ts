import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import type { Fault } from './testing/front.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let fixture: BehindFront;

beforeEach(async () => {
  fixture = await openBehindFront();
});

afterEach(async () => fixture[Symbol.asyncDispose]());

const faults: Readonly<Record<string, Fault>> = {
  'answers 503': (_, response) => void response.writeHead(503).end(),
  'closes every connection': (_, response) => void response.destroy(),
  'hangs until the timeout': () => void setImmediate(() => fixture.clock.skip(30_000)),
};

it.each(Object.entries(faults))(
  'a cloud outage for a day (%s) costs about one request per minute and no NIC, and ends within a minute after recovery',
  async (_what, fault) => {
    const { front, scene, clock } = fixture;
    front.spoil(/./, fault);
    const before = front.asked.length;
    const began = clock.monotonicMs();
    let nextMs = 0;
    while (clock.monotonicMs() - began < dayMs) nextMs = await fixture.pass(nextMs);
    expect(scene.ready()).toMatch(/^False /);
    expect(fixture.nics()).toEqual(['multinic0', 'multinic0']);
    // After token expiry only Keystone gets requests; until then Neutron and Nova fail separately.
    const minutes = (clock.monotonicMs() - began) / minuteMs;
    expect(front.asked.length - before).toBeLessThan(minutes + 90);
    fixture.attach(0);
    front.heal();
    const healed = clock.monotonicMs();
    while (!scene.ready().startsWith('True')) nextMs = await fixture.pass(nextMs);
    expect(clock.monotonicMs() - healed).toBeLessThanOrEqual(minuteMs);
    expect(fixture.nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
  },
);
