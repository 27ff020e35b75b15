import { expect, it } from 'vitest';
import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { FlapDamping } from './flap-damping.ts';

const statusWith = (message: string): OpenstackConfigStatus => ({
  conditions: [{ type: 'Ready', status: 'False', reason: 'NeutronPortError', message }],
});

it('FlapDamping writes a repeated content immediately again after 16 newer contents', () => {
  const flapDamping = new FlapDamping(createFakeClock());
  const isWritten = (message: string) => flapDamping.allows(statusWith(message));
  const writeNew = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) expect(isWritten(`other ${n}`)).toBe(true);
  };
  for (let n = 0; n < 4; n++) {
    expect(isWritten('the same')).toBe(true);
    writeNew(n, 1);
  }
  expect(isWritten('the same')).toBe(false);
  writeNew(4, 16);
  expect(isWritten('the same')).toBe(true);
});
