import type { MariadbAccess } from './mariadb-access.ts';

type Access = Pick<MariadbAccess, 'host' | 'user' | 'tls'>;

/** Returns the connection error from MariaDB, driver or TLS, with cause and advice if both are known. */
export function connectionFailure(error: Error, access: Access): Error {
  const advice = adviceFor(error, access);
  return advice === undefined ? error : new Error(`${error.message}; ${advice}`, { cause: error });
}

// ER_ACCESS_DENIED_ERROR, ER_ACCESS_DENIED_NO_PASSWORD_ERROR; ER_SECURE_TRANSPORT_REQUIRED in later versions and in
// MySQL.
const deniedNumbers = [1045, 1698, 3159, 4151];

function adviceFor(error: Error, { host, user, tls }: Access): string | undefined {
  const { code = '', errno } = error as NodeJS.ErrnoException;
  if (error.message.includes('unknown plugin')) {
    return `MariaDB authenticates user "${user}" with a plugin that MultiNIC does not support; run ALTER USER ... IDENTIFIED VIA mysql_native_password USING PASSWORD('...')`;
  }
  if (tls === undefined) {
    if (!deniedNumbers.includes(errno ?? 0)) return undefined;
    return 'if MariaDB requires TLS (require_secure_transport, REQUIRE SSL of the user), set DB_CA_FILE, or DB_TLS=true';
  }
  if (code === 'HANDSHAKE_NO_SSL_SUPPORT') {
    return 'MariaDB offers no TLS: set ssl_cert and ssl_key of MariaDB, or unset DB_TLS and DB_CA_FILE';
  }
  if (code === 'HANDSHAKE_SSL_ERROR') {
    return `the certificate of MariaDB cannot be verified: DB_CA_FILE must contain its CA, and the certificate must name ${host}`;
  }
  return undefined;
}
