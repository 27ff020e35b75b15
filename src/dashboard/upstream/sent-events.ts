/** A server-sent event. */
export interface SentEvent {
  /** Undefined: data without a name, or a comment. */
  readonly name: string | undefined;
  readonly id: string | undefined;
  /** Undefined: a comment, such as a heartbeat. */
  readonly data: string | undefined;
}

/** Longest event (characters); rows have texts of at most 1 kB. */
const longestEvent = 1_000_000;

/** Parses a stream of server-sent events with line feeds, as sent by the operator. Throws for an endless event. */
export async function* sentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<SentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    if (rest.length > longestEvent) throw new Error('an event of the operator has no end');
    for (const block of blocks) yield eventIn(block);
  }
}

function eventIn(block: string): SentEvent {
  return {
    name: fieldIn(block, 'event'),
    id: fieldIn(block, 'id'),
    data: fieldIn(block, 'data'),
  };
}

function fieldIn(block: string, name: string): string | undefined {
  const start = `${name}: `;
  const line = block.split('\n').find((each) => each.startsWith(start));
  return line?.slice(start.length);
}
