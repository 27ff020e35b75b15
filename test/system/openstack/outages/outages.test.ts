import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFaultProxy } from '../../../../rig/fault-proxy/fault-proxy.ts';
import { inTurn } from '../../../rotation.ts';
import { Ground } from '../faults/ground.ts';
import { cidrs, generous, type Machine } from '../fields/place.ts';
import { lateRecordTests } from './late-record-tests.ts';
import { lostAccessTests } from './lost-access-tests.ts';

/** Longer than the longest pause between tries. */
const patient = { ...generous, timeout: 180_000 };

// The real operator, with OpenStack without database and without message queue. The stage runs a single file at a time.
let ground: Ground;
const act = inTurn('outages of OpenStack', 2, (title: string, test: () => Promise<void>) =>
  it(title, test),
);

beforeAll(async () => {
  ground = await Ground.open();
});

afterEach(() => ground.rest());

afterAll(() => ground?.[Symbol.asyncDispose]());

describe('an OpenStack outage', () => {
  act('MariaDB: NICs stay, it is told, and everything goes on when it is back', async () => {
    const { place } = ground;
    const { bed } = place;
    const settings = { openstackTimeout: '5s' };
    const server = await ground.delivered('mariadb', { settings });
    const newcomer = await place.boot();
    await ground.unchanged([server], async () => {
      await bed.cloud.stop('mariadb');
      try {
        await place.untilRefused('mariadb', 'NeutronPortError');
        await ground.failingLooks('mariadb', 'NeutronPortError');
        const credentials = ground.direct(bed.tenant);
        await ground.apply('newcomer', { vmNames: [newcomer.id], credentials, settings });
        await place.untilRefused('newcomer', 'KeystoneError');
      } finally {
        await bed.cloud.start();
      }
      const ready = { status: 'True' };
      await expect.poll(() => place.conditionOf('mariadb'), patient).toMatchObject(ready);
    });
    await expect.poll(() => place.cidrsOf(newcomer), patient).toEqual([cidrs.first]);
    const port = await place.attach(server);
    await place.untilHolds(server, cidrs.first, cidrs.first);
    await bed.tenant.detach(server.id, port.id);
    await place.untilHolds(server, cidrs.first);
  });

  act('RabbitMQ: NICs stay, polls go on, and changes are told again when it is back', async () => {
    const { place } = ground;
    const { cloud, tenant } = place.bed;
    const { host, port, username, password } = cloud.rabbit;
    await using proxy = await startFaultProxy({ target: `tcp://${host}:${port}` });
    const rabbit = { username, password, hosts: [`127.0.0.1:${proxy.port}`] };
    const contrabass = await place.bed.startContrabass('rabbit-key-of-16', rabbit);
    const settings = {
      contrabassEndpoint: contrabass.contrabassUrl,
      contrabassEncryptKey: contrabass.encryptKey,
    };
    const rarely = { pollFastInterval: '10m', pollSlowInterval: '10m' };
    const polled = await ground.delivered('polled', { settings });
    const told = await ground.delivered('told', { settings: { ...settings, ...rarely } });
    const condition = () => place.conditionOf('polled', 'Notifications');
    const untilListening = async (status: 'True' | 'False'): Promise<void> => {
      await expect.poll(condition, patient).toMatchObject({ status });
    };
    const untilHolds = async (server: Machine, count: number): Promise<void> => {
      const nics = async () => (await place.cidrsOf(server))?.length;
      await expect.poll(nics, patient).toBe(count);
    };
    await untilListening('True');
    await ground.unchanged([told, polled], async () => {
      await cloud.stop('rabbit');
      await ground.look('polled');
      // Neutron attaches nothing without a message queue: the queue returns for Neutron before it returns for the operator.
      proxy.add({ fault: 'gone' });
      await cloud.start();
      await untilListening('False');
    });
    await place.attach(polled);
    await untilHolds(polled, 2);
    await place.attach(told);
    proxy.clear();
    // Notifications from the outage are lost: the operator syncs all servers at once.
    await untilHolds(told, 2);
    await untilListening('True');
    const last = await place.attach(told);
    await untilHolds(told, 3);
    await tenant.detach(told.id, last.id);
    await untilHolds(told, 2);
  });
});

lostAccessTests(() => ground, act);
lateRecordTests(() => ground, act);
