import { Cron } from 'croner';

/** Sync times for OpenstackConfigs. */
export interface Schedule {
  /** Returns the first time after `after`. */
  next(after: Date): Date;
}

/**
 * Returns times every `ms` milliseconds, counted from 1970 in UTC. All processes get equal times: restarts never
 * shift a sync, and OpenstackConfigs in one cloud share listings.
 */
export function everyInterval(ms: number): Schedule {
  return { next: (after) => new Date((Math.floor(after.getTime() / ms) + 1) * ms) };
}

/**
 * Returns times for a five-field cron pattern. Times in a daylight-saving gap run right after the gap; repeated times
 * run once. Throws an Error for invalid patterns and for patterns that never match.
 */
export function cronSchedule(pattern: string, timezone: string): Schedule {
  // Beside patterns, croner accepts dates (matching once) and names such as @daily.
  if (pattern.trim().split(/\s+/).length !== 5) throw new Error('a schedule has five fields');
  // Only croner's time calculation is used: without a callback croner sets no timer.
  const cron = new Cron(pattern, { timezone });
  if (cron.nextRun(new Date(0)) === null) throw new Error('no such day exists');
  return {
    next: (after) => {
      const next = cron.nextRun(after);
      if (next === null) throw new Error(`${pattern} has no time after ${after.toISOString()}`);
      return next;
    },
  };
}
