import * as z from 'zod';
import { isBreakGlassActive } from '../model/break-glass.ts';
import type { Observed } from '../model/stage.ts';

const recoveryOff = z.object({
  protection: z.object({ enableAutoRecovery: z.literal(false) }),
});

/**
 * True if foreign changes are reverted now. An error in another field of spec.protection does not change the result.
 */
export function mayRecover({ operator, accepted, now }: Observed): boolean {
  const { value } = accepted.protection;
  if (isBreakGlassActive(value, now)) return false;
  return value ? value.recovers : !recoveryOff.safeParse(operator.spec).success;
}
