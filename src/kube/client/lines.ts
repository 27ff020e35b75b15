import { decodeUtf8, invalid } from './answer.ts';

/** Five times etcd's object limit: JSON is larger than the stored form. */
const maxLineBytes = 8 * 1024 * 1024;

/** Splits a byte stream at newlines and decodes each line once; throws if the last line is incomplete. */
export async function* lines(body: AsyncIterable<Buffer>, doing: string): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      parts.push(chunk.subarray(start, end));
      yield decodeUtf8(Buffer.concat(parts), doing);
      parts = [];
      size = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLineBytes) throw invalid(doing, `a line is longer than ${maxLineBytes} bytes`);
  }
  if (size > 0) throw invalid(doing, 'the stream ended within a line');
}
