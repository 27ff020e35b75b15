/** A request that the cloud refuses, with the status and type of error that the real service gives. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  /** Neutron's error type or Nova's error key; Keystone has none. */
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

/** A route or query key that nothing uses yet: 501 instead of a guess. */
export function notServed(what: string): Refusal {
  return new Refusal(501, 'NotServed', `${what} is not simulated; record it, serve it, test it`);
}
