import { Failure } from '../session/access/failure.ts';

/** A refused user request that changed nothing: exit status 3. */
export class Refusal extends Failure {
  constructor(why: string, next: string) {
    super(why, next);
    this.name = 'Refusal';
  }

  override withNext(next: string): Refusal {
    return new Refusal(this.message, next);
  }
}

/** An argument that cannot be used: exit status 2. */
export class WrongUsage extends Refusal {
  constructor(why: string, next: string) {
    super(why, next);
    this.name = 'WrongUsage';
  }

  override withNext(next: string): WrongUsage {
    return new WrongUsage(this.message, next);
  }
}
