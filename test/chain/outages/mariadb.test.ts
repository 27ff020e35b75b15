import { type Connection, createConnection } from 'mysql2/promise';
import { expect, it } from 'vitest';
import { startFaultProxy } from '../../../rig/fault-proxy/fault-proxy.ts';
import { openWorld, type Worker } from '../../fixtures/chain/world.ts';
import type { Form } from '../../fixtures/outages/forms.ts';
import { type OutagePlans, outageSuite } from '../../fixtures/outages/suite.ts';
import { type Mariadb, startMariadb } from '../../system/store/mariadb-server.ts';

// Forms without HTTP: a MariaDB connection carries no requests for a proxy to fail.
const outages = ['gone', 'takes-no-bytes'] as const satisfies readonly Form[];
const nodeOf = (form: Form) => `mariadb-${form}`;

let connection: Connection;

outageSuite(
  'inventory',
  outages.map((form) => `MariaDB ${form}`),
  async (stack) => {
    const server = stack.use(await startMariadb());
    const { database: _, ...login } = server.access;
    connection = await createConnection(login);
    stack.defer(() => connection.end());
    return Promise.all(outages.map((form) => openScene(server, form, stack)));
  },
);

it.each(outages)('the inventory history is complete after MariaDB %s', async (form) => {
  const [rows] = await connection.query(
    `select \`change\`, count(*) as times from ${databaseOf(form)}.change_log
     where node_name = ? and name = 'multinic1' group by \`change\` order by \`change\``,
    [nodeOf(form)],
  );
  // One change in the clean run, one in the outage.
  expect(rows).toEqual([
    { change: 'added', times: 2 },
    { change: 'removed', times: 2 },
  ]);
});

/** Opens an operator with its own inventory database behind a proxy. */
async function openScene(
  { access }: Mariadb,
  form: Form,
  stack: AsyncDisposableStack,
): Promise<OutagePlans> {
  const database = databaseOf(form);
  await connection.query(`create database ${database}`);
  const target = `tcp://${access.host}:${access.port}`;
  const proxy = stack.use(await startFaultProxy({ target }));
  const env = {
    DB_HOST: '127.0.0.1',
    DB_PORT: String(proxy.port),
    DB_USER: access.user,
    DB_PASSWORD: access.password,
    DB_NAME: database,
  };
  const names = [nodeOf(form), `calm-${form}`];
  const world = stack.use(await openWorld(names, { env }));
  const [worker, calm] = world.workers as [Worker, Worker];
  const place = { world, worker, edit: {}, proxies: [proxy] };
  return {
    plans: [{ what: 'MariaDB', form, place, waits: false }],
    calm: { ...place, worker: calm },
  };
}

function databaseOf(form: Form): string {
  return `inventory_${form.replaceAll('-', '_')}`;
}
