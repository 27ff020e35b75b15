import { parse } from 'yaml';
import type * as z from 'zod';
import {
  type TriggerConfig,
  type TriggerMode,
  triggerConfig,
  triggerConfigMap,
  triggerModes,
} from '../api/trigger-config.ts';
import { parseDuration } from '../process/duration.ts';
import { maxSleepMs } from '../time/clock.ts';
import { cronSchedule, everyInterval, type Schedule } from './schedule.ts';

/** Policy for starting OpenstackConfig syncs. */
export interface TriggerPolicy {
  readonly mode: TriggerMode;
  /** True: a new or edited OpenstackConfig is synced at once. */
  readonly onChange: boolean;
  /** Scheduled sync times; undefined: never, or by the adaptive poll interval in mode `immediate`. */
  readonly schedule: Schedule | undefined;
}

/** The policy without a ConfigMap. */
export const immediately: TriggerPolicy = {
  mode: 'immediate',
  onChange: true,
  schedule: undefined,
};

/** The policy while an existing ConfigMap was never readable: only CR changes, because it may forbid polling. */
export const unreadable: TriggerPolicy = { mode: 'manual', onChange: true, schedule: undefined };

/** The legacy system's minimum, because each legacy sync listed whole projects. */
const minIntervalMs = 60_000;
const defaultInterval = '5m';
/** Maximum text length: a policy needs a few hundred characters; large YAML maps take minutes to parse. */
const maxTextLength = 4_096;

/** Parses `trigger.yaml`; throws an UnusablePolicy with every unusable field, its value and advice. */
export function readPolicy(text: string): TriggerPolicy {
  const raw = rawIn(text);
  const parsed = triggerConfig.safeParse(raw);
  if (!parsed.success) throw unusable(parsed.error.issues.map((issue) => problemOf(issue, raw)));
  const { mode, immediateOnCRChange = mode === 'manual' } = parsed.data;
  const { schedule, problems } = timesOf(parsed.data);
  if (problems.length > 0) throw unusable(problems);
  return {
    mode,
    onChange: mode === 'immediate' || immediateOnCRChange,
    schedule: mode === 'scheduled' ? schedule : undefined,
  };
}

function rawIn(text: string): unknown {
  if (text.length > maxTextLength) {
    throw unusable([{ message: `it has ${text.length} characters; use at most ${maxTextLength}` }]);
  }
  try {
    return parse(text) ?? {};
  } catch (cause) {
    // The YAML library throws only syntax errors.
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable([{ message: `it is not YAML: ${why}` }]);
  }
}

/** Problem in a policy text; the message about a field begins with the field name. */
interface PolicyProblem {
  /** Undefined: the whole text. */
  readonly field?: keyof TriggerConfig;
  readonly message: string;
}

/** All problems in a policy text. */
export class UnusablePolicy extends Error {
  override readonly name = 'UnusablePolicy';
  readonly problems: readonly PolicyProblem[];

  constructor(problems: readonly PolicyProblem[]) {
    super(`${triggerConfigMap.key}: ${problems.map(({ message }) => message).join('; ')}`);
    this.problems = problems;
  }
}

function unusable(problems: readonly PolicyProblem[]): UnusablePolicy {
  return new UnusablePolicy(problems);
}

const fields = Object.keys(triggerConfig.shape);
const forms: Readonly<Record<keyof TriggerConfig, string>> = {
  mode: `set one of ${triggerModes.join(', ')}`,
  interval: 'set a duration such as "15m"',
  schedule: 'set five fields in quotes, such as "0 3 * * *"',
  timezone: 'set a name such as "Asia/Seoul"',
  immediateOnCRChange: 'set true or false',
};

function problemOf(issue: z.core.$ZodIssue, raw: unknown): PolicyProblem {
  if (issue.code === 'unrecognized_keys') {
    return { message: `${issue.keys.join(', ')} is not known; known fields: ${fields.join(', ')}` };
  }
  const field = triggerConfig.keyof().safeParse(issue.path[0]).data;
  if (field === undefined)
    return { message: `it has no fields; known fields: ${fields.join(', ')}` };
  const value = (raw as Readonly<Record<string, unknown>>)[field];
  const message = `${field} ${JSON.stringify(value)} cannot be used; ${forms[field]}`;
  return { field, message };
}

interface Times {
  readonly schedule: Schedule | undefined;
  readonly problems: readonly PolicyProblem[];
}

/** Returns the configured times. Modes without a schedule report invalid times, too. */
function timesOf({ interval, schedule, timezone = 'UTC' }: TriggerConfig): Times {
  if (interval !== undefined && schedule !== undefined) {
    const both = `interval "${interval}" and schedule "${schedule}" exclude each other; remove one`;
    return { schedule: undefined, problems: [{ field: 'interval', message: both }] };
  }
  const knownZone = isTimezone(timezone);
  const times =
    schedule === undefined
      ? byInterval(interval ?? defaultInterval)
      : byCron(schedule, knownZone ? timezone : 'UTC');
  const unknownZone = `timezone "${timezone}" is not known; ${forms.timezone}`;
  const zone: PolicyProblem[] = knownZone ? [] : [{ field: 'timezone', message: unknownZone }];
  if (typeof times !== 'string') return { schedule: times, problems: zone };
  const field = schedule === undefined ? 'interval' : 'schedule';
  return { schedule: undefined, problems: [{ field, message: times }, ...zone] };
}

function byInterval(text: string): Schedule | string {
  const ms = parseDuration(text);
  if (ms === undefined) return `interval "${text}" is not a duration; ${forms.interval}`;
  if (ms < minIntervalMs) return `interval "${text}" is too short; set at least "1m"`;
  if (ms > maxSleepMs) return `interval "${text}" is too long; set at most "596h"`;
  // A Date has whole milliseconds: with a fraction, the next time would equal the current one.
  return everyInterval(Math.round(ms));
}

function byCron(text: string, timezone: string): Schedule | string {
  try {
    return cronSchedule(text, timezone);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return `schedule "${text}" cannot be used (${why}); ${forms.schedule}`;
  }
}

function isTimezone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}
