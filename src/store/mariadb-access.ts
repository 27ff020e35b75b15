/** Settings for verifying a MariaDB certificate. */
export interface MariadbTls {
  /** CA certificates (PEM), read for each connection; undefined: system CAs. */
  readonly ca: string | undefined;
}

/** Address and credentials for a MariaDB (10.3 or newer). */
export interface MariadbAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** undefined: no TLS. */
  readonly tls?: MariadbTls | undefined;
}
