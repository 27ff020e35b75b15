/** That something has happened in a cloud; what, is read from the cloud. */
export interface Hint {
  /** Servers whose ports may have changed, lower case. */
  readonly servers: readonly string[];
  /** Ports of which nobody said where they are, lower case. */
  readonly ports: readonly string[];
  /** More may have changed than these. */
  readonly whole: boolean;
}
