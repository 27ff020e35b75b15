import type { Wording } from '../../api/texts/text.ts';

/** Error: a fact cannot be read; `next` is the user's next step. */
export class Unread extends Error {
  readonly why: Wording;
  readonly next: Wording;
  constructor(why: Wording, next: Wording) {
    super(why.en);
    this.name = 'Unread';
    this.why = why;
    this.next = next;
  }
}
