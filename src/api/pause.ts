import { annotations } from './names.ts';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
}

/** Whether an object is paused, and by which value if that is neither true nor false. */
export interface Pause {
  readonly isPaused: boolean;
  readonly unclear?: string;
}

/**
 * Reads the annotation `multinic.io/paused`. A value that is neither true nor false pauses: its user meant to stop changes
 * rather than to have them.
 */
export function pauseOf({ metadata }: Annotated): Pause {
  const value = metadata.annotations?.[annotations.paused] ?? '';
  const meant = value.trim().toLowerCase();
  if (meant === '' || meant === 'false') return { isPaused: false };
  return meant === 'true' ? { isPaused: true } : { isPaused: true, unclear: value };
}

/** Returns why an object is paused and what stays undone; `effect` is a clause such as "nothing is read or changed". */
export function pauseMessage({ unclear }: Pause, effect: string): string {
  return unclear === undefined
    ? `the annotation ${annotations.paused} is true; ${effect}`
    : `the annotation ${annotations.paused} is "${shortened(unclear)}", which is neither true nor false; ${effect} until it is false or removed`;
}

/** Values of users can be of any length; conditions have a limit. */
function shortened(value: string): string {
  return value.length <= 64 ? value : `${value.slice(0, 64)}…`;
}
