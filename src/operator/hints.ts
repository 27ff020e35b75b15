/** That something has happened in a cloud; what, is read from the cloud. */
export interface Hint {
  /** Servers whose ports may have changed, lower case. */
  readonly servers: readonly string[];
  /** Ports that may have changed or gone, lower case: the servers where they were seen last are concerned too. */
  readonly ports: readonly string[];
  /** More may have changed than these. */
  readonly whole: boolean;
}
