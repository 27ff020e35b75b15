import { connect, isIP, type Socket } from 'node:net';
import type { MysqlPool } from 'kysely';
import { createPool, type PoolConnection, type PoolOptions, type SslOptions } from 'mysql2';
import type { MariadbAccess } from './mariadb-access.ts';
import { connectionFailure } from './mariadb-failure.ts';

/**
 * MariaDB's default since 10.2.4. Another server mode would change the meaning: mysql2 escapes values with
 * backslashes. Under NO_BACKSLASH_ESCAPES backslashes are plain text, and a value could end its quotes (SQL
 * injection).
 */
const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** Read timeout: no MultiNIC statement takes this long. */
const silenceMs = 10_000;

/**
 * Returns a MariaDB connection pool. This is a separate module: with SQLite, no driver is loaded. Connections with an
 * unanswered statement are closed. After a silent server loss (failover, firewall), TCP retries would otherwise block
 * all connections for 15 minutes.
 */
export function mariadbPool(access: MariadbAccess): MysqlPool {
  const { host, port, user, password, database } = access;
  const limits = { connectionLimit: 5, connectTimeout: 5_000, supportBigNumbers: true };
  // mysql2 returns times as text: the tables store UTC, independent from the process time zone.
  const forms = { charset: 'utf8mb4', dateStrings: true };
  const login = { host, port, user, password, database, ...encryption(access) };
  const pool = createPool({ ...login, ...forms, ...limits });
  pool.on('connection', (connection) => {
    // One connection runs its statements in order, hence no statement runs before this one.
    connection.query(`SET SESSION sql_mode = '${sqlMode}'`, (error) => {
      if (error) connection.destroy();
    });
    const socket = socketOf(connection);
    socket.on('timeout', () => {
      connection.destroy();
      socket.destroy(new Error(`no response from MariaDB for ${silenceMs / 1000} s`));
    });
  });
  pool.on('acquire', (connection) => void socketOf(connection).setTimeout(silenceMs));
  pool.on('release', (connection) => void socketOf(connection).setTimeout(0));
  return {
    getConnection: (callback) =>
      pool.getConnection((error, connection) =>
        callback(error && connectionFailure(error, access), connection),
      ),
    end: (callback) => pool.end(callback),
  };
}

function encryption({ host, port, tls }: MariadbAccess): PoolOptions {
  if (tls === undefined) return {};
  // mysql2 reads `ca` for each connection.
  const verified = { rejectUnauthorized: true, verifyIdentity: true };
  const ssl = Object.defineProperty<SslOptions>(verified, 'ca', { get: () => tls.ca });
  if (isIP(host) === 0) return { ssl };
  // mysql2 sets no TLS server name when the host is an address. Node.js then verifies the certificate against the
  // socket's `_host`, set only for names, else against "localhost".
  const stream = (): Socket => Object.assign(connect(port, host), { _host: host });
  return { ssl, stream };
}

/** Returns the socket, missing in mysql2's types. */
function socketOf(connection: PoolConnection): Socket {
  return (connection as PoolConnection & { readonly stream: Socket }).stream;
}
