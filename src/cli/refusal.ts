/** A failed command with a next step: exit status 1. */
export class Failure extends Error {
  readonly next: string;
  constructor(why: string, next: string) {
    super(why);
    this.name = 'Failure';
    this.next = next;
  }
}

/** A refused user request that changed nothing: exit status 3. */
export class Refusal extends Failure {
  constructor(why: string, next: string) {
    super(why, next);
    this.name = 'Refusal';
  }
}

/** An argument that cannot be used: exit status 2. */
export class WrongUsage extends Refusal {
  constructor(why: string, next: string) {
    super(why, next);
    this.name = 'WrongUsage';
  }
}
