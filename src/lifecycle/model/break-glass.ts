import type { ProtectionWanted } from './accepted.ts';

/** True if an administrator paused protection and recovery. */
export function isBreakGlassActive(
  wanted: Pick<ProtectionWanted, 'breakGlassUntil'> | undefined,
  now: Date,
): boolean {
  return wanted?.breakGlassUntil !== undefined && now < wanted.breakGlassUntil;
}
