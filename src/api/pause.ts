import { annotations } from './names.ts';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** Pause state, with the annotation value if neither true nor false. */
export interface Pause {
  readonly isPaused: boolean;
  readonly unclear?: string;
}

/**
 * Parses the annotation `multinic.io/paused`. A value other than true or false pauses, because the user more likely
 * meant to stop changes.
 */
export function pauseOf({ metadata }: Annotated): Pause {
  const value = metadata.annotations?.[annotations.paused] ?? '';
  const normalized = value.trim().toLowerCase();
  if (normalized === '' || normalized === 'false') return { isPaused: false };
  return normalized === 'true' ? { isPaused: true } : { isPaused: true, unclear: value };
}

/**
 * Returns why an object is paused and what stays undone; `effect` is a clause such as "nothing is changed".
 */
export function pauseMessage({ unclear }: Pause, effect: string): string {
  return unclear === undefined
    ? `the annotation ${annotations.paused} is true; ${effect}`
    : `the annotation ${annotations.paused} is "${shortened(unclear)}", which is neither true nor false; ${effect} until it is false or removed`;
}

/** Truncates a user's value: conditions have a length limit. */
function shortened(value: string): string {
  return value.length <= 64 ? value : `${value.slice(0, 64)}…`;
}
