import { connect, isIP, type Socket } from 'node:net';
import type { MysqlPool } from 'kysely';
import { createPool, type PoolConnection, type PoolOptions, type SslOptions } from 'mysql2';
import type { MariadbAccess } from './mariadb-access.ts';
import { connectionFailure } from './mariadb-failure.ts';

/**
 * MariaDB's default since 10.2.4. Another mode of the server would change what our statements mean: mysql2 escapes values with
 * backslashes, which NO_BACKSLASH_ESCAPES makes part of the text, and so lets a value end its quotes.
 */
const sqlMode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** No statement of ours takes so long. */
const silenceMs = 10_000;

/**
 * A pool of connections to a MariaDB; a module of its own, as whoever keeps the inventory in a file need not load a driver. A
 * connection that a statement waits on in vain is given up: a server that is gone without a word (a failover, a firewall)
 * would else keep all of them for the quarter of an hour that TCP tries.
 */
export function mariadbPool(access: MariadbAccess): MysqlPool {
  const { host, port, user, password, database } = access;
  const limits = { connectionLimit: 5, connectTimeout: 5_000, supportBigNumbers: true };
  // Times come as they stand in the tables: they are UTC there, whatever the zone of this process is.
  const forms = { charset: 'utf8mb4', dateStrings: true };
  const login = { host, port, user, password, database, ...encryption(access) };
  const pool = createPool({ ...login, ...forms, ...limits });
  pool.on('connection', (connection) => {
    // Statements of one connection run in order, so no other one runs before this.
    connection.query(`SET SESSION sql_mode = '${sqlMode}'`, (error) => {
      if (error) connection.destroy();
    });
    const socket = socketOf(connection);
    socket.on('timeout', () => {
      connection.destroy();
      socket.destroy(new Error(`MariaDB said nothing for ${silenceMs / 1000} s`));
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
  // mysql2 names no server to TLS when the host is an address. Node.js then verifies the certificate for the `_host` of the
  // socket, which it sets for names only, and else for "localhost".
  const stream = (): Socket => Object.assign(connect(port, host), { _host: host });
  return { ssl, stream };
}

/** Its types leave it out. */
function socketOf(connection: PoolConnection): Socket {
  return (connection as PoolConnection & { readonly stream: Socket }).stream;
}
