import * as z from 'zod';
import { boolean, integer, nonBlank } from '../../../process/setting-schemas.ts';
import { type Settings, setting } from '../../../process/settings.ts';

/** Settings for the inventory database: a SQLite file, or MariaDB. */
export const storeSettings = {
  inventoryDbPath: setting({
    env: ['INVENTORY_DB_PATH'],
    flag: 'inventory-db-path',
    schema: nonBlank().prefault('/var/lib/multinic-operator/inventory.db'),
    description:
      'SQLite file of the inventory; unused with --db-host. If its folder cannot be written, the operator exits.',
  }),
  dbHost: setting({
    env: ['DB_HOST'],
    flag: 'db-host',
    schema: nonBlank().optional(),
    description:
      'Host of MariaDB, which then holds the inventory instead of SQLite. While it does not answer, deliveries go on and records wait.',
  }),
  dbPort: setting({
    env: ['DB_PORT'],
    flag: 'db-port',
    schema: integer(1, 65_535).prefault('3306'),
    description: 'TCP port of MariaDB. A wrong one has the effect of a host that does not answer.',
  }),
  dbUser: setting({
    env: ['DB_USER'],
    flag: 'db-user',
    schema: nonBlank().prefault('multinic'),
    description: 'User of MariaDB. The log names the refusal if user or password is wrong.',
  }),
  dbPassword: setting({
    env: ['DB_PASSWORD'],
    flag: 'db-password',
    schema: z.string().optional(),
    description:
      'Password of the MariaDB user. The log names the refusal if user or password is wrong.',
    secret: true,
  }),
  dbName: setting({
    env: ['DB_NAME'],
    flag: 'db-name',
    schema: nonBlank().prefault('multinic'),
    description:
      'Database of MariaDB; the operator makes its tables, not the database. The log names a database that is missing.',
  }),
  dbTls: setting({
    env: ['DB_TLS'],
    flag: 'db-tls',
    schema: boolean().prefault('false'),
    description:
      'true: use TLS to MariaDB and verify its certificate for the host of --db-host. --db-ca-file switches TLS on as well. Without TLS the password is readable on the network.',
  }),
  dbCaFile: setting({
    env: ['DB_CA_FILE'],
    flag: 'db-ca-file',
    schema: nonBlank().optional(),
    description:
      'PEM bundle that verifies the certificate of MariaDB, instead of the authorities of Node.js; read again for new connections. If it is missing at the start, the operator exits.',
  }),
} satisfies Settings;
