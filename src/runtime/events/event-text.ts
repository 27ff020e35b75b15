import { type ChangeEvent, longestEventText, resetEvent } from '../../api/events-http.ts';

/** Comment line against idle timeouts, with the id for a resume. */
export function heartbeatText(id: string): string {
  return `: heartbeat\nid: ${id}\n\n`;
}

/** Event for a reader without all changes: the lists must be read again. */
export function resetText(id: string): string {
  return namedText(resetEvent, id);
}

/** Event with a name and without data. */
export function namedText(name: string, id: string): string {
  return `event: ${name}\nid: ${id}\ndata: {}\n\n`;
}

export function changeText(id: string, data: string): string {
  return `id: ${id}\ndata: ${data}\n\n`;
}

/** Returns a change as JSON; longer texts are cut. */
export function dataOf(event: ChangeEvent): string {
  return JSON.stringify(event, (_, value: unknown) =>
    typeof value === 'string' ? cut(value) : value,
  );
}

/** A character has at most 3 bytes per UTF-16 unit. */
function cut(text: string): string {
  if (text.length * 3 <= longestEventText) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= longestEventText) return text;
  const short = bytes.subarray(0, longestEventText - 3).toString();
  return `${short.replace(/\uFFFD$/, '')}…`;
}
