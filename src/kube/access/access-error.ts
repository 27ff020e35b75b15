/** No access to a cluster can be read: why, and what a user does about it. Both are one line and hold no credential. */
export class AccessError extends Error {
  override readonly name = 'AccessError';
  readonly next: string;

  constructor(why: string, next: string, options?: ErrorOptions) {
    super(why, options);
    this.next = next;
  }
}
