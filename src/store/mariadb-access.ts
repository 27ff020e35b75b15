/** How the certificate of a MariaDB is verified. */
export interface MariadbTls {
  /** Authorities (PEM), read for each connection; undefined: those of the system. */
  readonly ca: string | undefined;
}

/** Where a MariaDB (10.3 or newer) is and as whom we speak to it. */
export interface MariadbAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** undefined: without TLS. */
  readonly tls?: MariadbTls | undefined;
}
