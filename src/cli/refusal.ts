/** Something that a person asked for and that is not done: why, and what to do next. */
export class Refusal extends Error {
  readonly next: string;
  constructor(why: string, next: string) {
    super(why);
    this.name = 'Refusal';
    this.next = next;
  }
}
