/** Returns the text in at most `maxLength` bytes of UTF-8, on one line, cut between characters. */
export function shorten(text: string, maxLength: number): string {
  const line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (Buffer.byteLength(line) <= maxLength) return line;
  const mark = maxLength >= 3 ? '…' : '';
  let bytes = Buffer.byteLength(mark);
  let prefix = '';
  for (const character of line) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxLength) break;
    prefix += character;
  }
  return prefix + mark;
}
