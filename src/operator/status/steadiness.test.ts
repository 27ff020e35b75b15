import { expect, it } from 'vitest';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { Steadiness } from './steadiness.ts';

const saying = (message: string): OpenstackConfigStatus => ({
  conditions: [{ type: 'Ready', status: 'False', reason: 'NeutronPortError', message }],
});

it('counts some contents of an object, and not every one that there ever was', () => {
  const steadiness = new Steadiness(createFakeClock());
  const tells = (message: string) => steadiness.allows('team/one', saying(message));
  const others = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) expect(tells(`other ${n}`)).toBe(true);
  };
  for (let n = 0; n < 4; n++) {
    expect(tells('the same')).toBe(true);
    others(n, 1);
  }
  expect(tells('the same')).toBe(false);
  others(4, 16);
  expect(tells('the same')).toBe(true);
});
