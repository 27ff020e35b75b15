import { expect, it } from 'vitest';
import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { FlapDamping } from './flap-damping.ts';

const statusWith = (message: string): OpenstackConfigStatus => ({
  conditions: [{ type: 'Ready', status: 'False', reason: 'NeutronPortError', message }],
});

it('a content is written at once again when 16 newer contents were written since', () => {
  const flapDamping = new FlapDamping(createFakeClock());
  const isWritten = (message: string) => flapDamping.allows(statusWith(message));
  const others = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) expect(isWritten(`other ${n}`)).toBe(true);
  };
  for (let n = 0; n < 4; n++) {
    expect(isWritten('the same')).toBe(true);
    others(n, 1);
  }
  expect(isWritten('the same')).toBe(false);
  others(4, 16);
  expect(isWritten('the same')).toBe(true);
});
