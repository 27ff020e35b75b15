import * as z from 'zod';
import { isGlassBroken } from '../protection/decision.ts';
import type { Observed } from '../stage.ts';

const recoveryOff = z.object({
  protection: z.object({ enableAutoRecovery: z.literal(false) }),
});

/** Whether changes by other managers are reverted now. A mistake in another field of spec.protection leaves this as it is. */
export function mayRecover({ operator, accepted, now }: Observed): boolean {
  const { value } = accepted.protection;
  if (isGlassBroken(value, now)) return false;
  return value ? value.recovers : !recoveryOff.safeParse(operator.spec).success;
}
