/** How a service's certificate is checked. */
export interface TlsOptions {
  /** PEM bundle that replaces the system's authorities. */
  readonly ca?: string;
  /** Accepts any certificate; only when somebody asked for it. */
  readonly insecure?: boolean;
}
