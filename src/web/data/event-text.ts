/** Server-sent event. */
export interface StreamEvent {
  /** `message`: an event without a name. */
  readonly name: string;
  readonly data: string;
}

/**
 * Parses a stream in parts. The browser's EventSource cannot resume by id after the page closed it, and hides the status of
 * refusals.
 */
export class EventText {
  #rest = '';
  /** The last block's id; undefined: none yet. */
  lastId: string | undefined;

  /** A new connection begins: drops a cut event. */
  restart(): void {
    this.#rest = '';
  }

  /** Returns the events completed by a text part. */
  take(part: string): readonly StreamEvent[] {
    const blocks = (this.#rest + part).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => this.#eventOf(block) ?? []);
  }

  #eventOf(block: string): StreamEvent | undefined {
    let name = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const [, field = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (field === 'id') this.lastId = value;
      if (field === 'event') name = value;
      if (field === 'data') data.push(value);
    }
    return data.length > 0 ? { name, data: data.join('\n') } : undefined;
  }
}
