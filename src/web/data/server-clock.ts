import { signal } from '@preact/signals';

/** Server time minus browser time (ms): the browser's clock may be hours off. */
let offsetMs = 0;

/** Server time (milliseconds since 1970), renewed every second while the page is visible. */
export const now = signal(Date.now());

/** Sets the clock by the Date header of a response; undefined: no header. */
export function setServerTime(date: string | null): void {
  const server = Date.parse(date ?? '');
  if (Number.isNaN(server)) return;
  const difference = server - Date.now();
  // The header has whole seconds: a small difference says nothing.
  if (Math.abs(difference - offsetMs) > 2_000) offsetMs = difference;
}

/** Renews `now` every second. */
export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now() + offsetMs;
  }, 1_000);
}
