/** Error with the user's next step. */
export class Failure extends Error {
  readonly next: string;
  constructor(why: string, next: string) {
    super(why);
    this.name = 'Failure';
    this.next = next;
  }

  /** Returns the error with another next step. */
  withNext(next: string): Failure {
    return new Failure(this.message, next);
  }
}
