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

/** What may start a look at an OpenstackConfig. */
export interface TriggerPolicy {
  readonly mode: TriggerMode;
  /** Whether a new or edited one is looked at at once. */
  readonly onChange: boolean;
  /** When they are looked at by the clock; undefined = never, or as `Pace` says. */
  readonly schedule: Schedule | undefined;
}

/** The policy without a ConfigMap. */
export const immediately: TriggerPolicy = {
  mode: 'immediate',
  onChange: true,
  schedule: undefined,
};

/** The policy while a ConfigMap exists that was never readable: changes are followed, and no cloud is polled that it may forbid. */
export const unreadable: TriggerPolicy = { mode: 'manual', onChange: true, schedule: undefined };

/** That of the deployed system, which listed whole projects with each look. */
const shortestIntervalMs = 60_000;
const usualInterval = '5m';
/** All that there is to say takes some hundred characters, and a YAML map of many keys takes minutes to read. */
const longestText = 4_096;

/** Reads `trigger.yaml`; throws an UnusablePolicy that names every field that cannot be used, its value and what to do. */
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
  if (text.length > longestText) {
    throw unusable([`it has ${text.length} characters; say it in ${longestText}`]);
  }
  try {
    return parse(text) ?? {};
  } catch (cause) {
    // The library throws nothing else than what it has against the text.
    throw unusable([`it is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`]);
  }
}

/** What is wrong with a text, problem by problem; one that is about a field begins with its name. */
export class UnusablePolicy extends Error {
  override readonly name = 'UnusablePolicy';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`${triggerConfigMap.key}: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

function unusable(problems: readonly string[]): UnusablePolicy {
  return new UnusablePolicy(problems);
}

const fields = Object.keys(triggerConfig.shape);
const forms: Readonly<Record<string, string>> = {
  mode: `say ${triggerModes.join(', ')}`,
  interval: 'say a duration such as "15m"',
  schedule: 'say five fields in quotes, such as "0 3 * * *"',
  timezone: 'say a name such as "Asia/Seoul"',
  immediateOnCRChange: 'say true or false',
};

function problemOf(issue: z.core.$ZodIssue, raw: unknown): string {
  if (issue.code === 'unrecognized_keys') {
    return `${issue.keys.join(', ')} is not known; it has ${fields.join(', ')}`;
  }
  const field = String(issue.path[0] ?? '');
  if (field === '') return `it holds no fields; it has ${fields.join(', ')}`;
  const value = (raw as Readonly<Record<string, unknown>>)[field];
  return `${field} ${JSON.stringify(value)} cannot be used; ${forms[field]}`;
}

/** The times that are asked for; what is wrong is told in modes that ask for none, too. */
function timesOf({ interval, schedule, timezone = 'UTC' }: TriggerConfig) {
  if (interval !== undefined && schedule !== undefined) {
    const both = `interval "${interval}" and schedule "${schedule}" exclude each other; keep one`;
    return { schedule: undefined, problems: [both] };
  }
  const knownZone = isTimezone(timezone);
  const times =
    schedule === undefined
      ? byInterval(interval ?? usualInterval)
      : byCron(schedule, knownZone ? timezone : 'UTC');
  const zone = knownZone ? [] : [`timezone "${timezone}" is not known; ${forms.timezone}`];
  return typeof times === 'string'
    ? { schedule: undefined, problems: [times, ...zone] }
    : { schedule: times, problems: zone };
}

function byInterval(text: string): Schedule | string {
  const ms = parseDuration(text);
  if (ms === undefined) return `interval "${text}" is not a duration; ${forms.interval}`;
  if (ms < shortestIntervalMs) return `interval "${text}" is too short; say at least "1m"`;
  if (ms > maxSleepMs) return `interval "${text}" is too long; say at most "596h"`;
  // A Date has whole milliseconds: the next time of a part of one would be the same again.
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
