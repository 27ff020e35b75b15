import { createPool, type Pool } from 'mysql2';
import type { MariadbAccess } from './dialect.ts';

/** A pool of connections to a MariaDB; a module of its own, as whoever keeps the inventory in a file need not load a driver. */
export function mariadbPool(access: MariadbAccess): Pool {
  const { host, port, user, password, database } = access;
  const limits = { connectionLimit: 5, connectTimeout: 5_000, supportBigNumbers: true };
  return createPool({ host, port, user, password, database, charset: 'utf8mb4', ...limits });
}
