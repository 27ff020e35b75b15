import { Cron } from 'croner';

/** Times at which OpenstackConfigs are looked at. */
export interface Schedule {
  /** The first time after this one. */
  next(after: Date): Date;
}

/**
 * Every `ms` milliseconds, counted from 1970 in UTC: all processes mean the same times, so that a restart neither brings a
 * look forward nor puts it off, and OpenstackConfigs of one cloud share what is listed.
 */
export function everyInterval(ms: number): Schedule {
  return { next: (after) => new Date((Math.floor(after.getTime() / ms) + 1) * ms) };
}

/**
 * The times of five fields of cron. Where clocks are set forward a time of day that is left out comes right after the gap;
 * where they are set back it comes once. Throws an Error that says what is wrong, also with one that never comes.
 */
export function cronSchedule(pattern: string, timezone: string): Schedule {
  // Beside patterns croner takes a date, which comes once, and names such as @daily.
  if (pattern.trim().split(/\s+/).length !== 5) throw new Error('it has not five fields');
  // Of what croner can do this is the table of times alone: it is never given anything to run, so it sets no timer.
  const cron = new Cron(pattern, { timezone });
  if (cron.nextRun(new Date(0)) === null) throw new Error('it names no day that there is');
  return {
    next: (after) => {
      const next = cron.nextRun(after);
      if (next === null) throw new Error(`${pattern} has no time after ${after.toISOString()}`);
      return next;
    },
  };
}
