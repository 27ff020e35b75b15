/** A refused user request: reason and next step. */
export class Refusal extends Error {
  readonly next: string;
  constructor(why: string, next: string) {
    super(why);
    this.name = 'Refusal';
    this.next = next;
  }
}

/** An argument that cannot be used: exit status 2. */
export class WrongUsage extends Refusal {
  constructor(why: string, next: string) {
    super(why, next);
    this.name = 'WrongUsage';
  }
}
