/** Settings that contradict each other, or that name a file that cannot be used; the message says which, and what to do. */
export class UnusableSettingError extends Error {
  override readonly name = 'UnusableSettingError';
}
