/** Time for a change before the change counts as stopped, in milliseconds. */
const patienceMs = 5 * 60_000;

/** True for a time within the patience; an unknown time is old. */
export function isRecent(at: string | undefined, now: Date): boolean {
  return now.getTime() - Date.parse(at ?? '') < patienceMs;
}
