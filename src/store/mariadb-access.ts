/** Where a MariaDB (10.3 or newer) is and as whom we speak to it. */
export interface MariadbAccess {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}
