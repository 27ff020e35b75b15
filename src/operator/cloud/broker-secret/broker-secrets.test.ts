import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretsFixture } from '../../../../test/fixtures/secrets.ts';
import { until } from '../../../time/fake-clock.ts';
import { checkIntervalMs, retryMs } from './broker-secrets.ts';

const broker = { username: 'r', password: 'secret-word', hosts: ['10.0.0.1:5672', '10.0.0.2'] };
const brokerData = {
  RABBITMQ_URLS: '10.0.0.1:5672,10.0.0.2',
  RABBITMQ_USER: 'r',
  RABBITMQ_PASSWORD: 'secret-word',
};
const name = 'rabbitmq-osc';

let fixture: SecretsFixture;

beforeAll(async () => {
  fixture = await SecretsFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => fixture.empty());
afterEach(async () => {
  await fixture.follow();
  expect([...fixture.lines, ...fixture.events].join('\n')).not.toContain('secret-word');
});

/** Passes an OpenstackConfig's broker to `keep` and waits for the writes. */
async function keep(of = broker, uid = 'uid-1'): Promise<void> {
  fixture.secrets.keep({ namespace: fixture.namespace, name: 'osc', uid }, of);
  await fixture.idle();
}

function ownedBy(uid: string, change: object = {}) {
  const owner = { apiVersion: 'multinic.example.com/v1alpha1', kind: 'OpenstackConfig', uid };
  return [{ ...owner, name: 'osc', controller: true, ...change }];
}

describe('broker Secret of an OpenstackConfig', () => {
  it("the Secret holds Contrabass' broker data, is owned by its OpenstackConfig, and is written once", async () => {
    for (let n = 0; n < 5; n++) await keep();
    const secret = await fixture.secret(name);
    expect(await fixture.data(name)).toEqual(brokerData);
    expect(secret?.type).toBe('Opaque');
    expect(secret?.metadata.ownerReferences).toEqual(ownedBy('uid-1'));
    expect(fixture.lines.join()).toContain(`"secretName":"${fixture.namespace}/${name}"`);
    await fixture.clock.advance(checkIntervalMs);
    await keep();
    expect(fixture.effects).toEqual([
      'before operator.broker-secret.write',
      'after operator.broker-secret.write',
    ]);
  });

  it('the Secret follows changed broker data at once, and stays when Contrabass names no host', async () => {
    await keep();
    await keep({ ...broker, password: 'another' });
    expect(await fixture.data(name)).toEqual({ ...brokerData, RABBITMQ_PASSWORD: 'another' });
    await keep({ ...broker, hosts: [] });
    expect(await fixture.data(name)).toEqual({ ...brokerData, RABBITMQ_PASSWORD: 'another' });
  });

  it('the Secret is repaired at the next check after an edit or deletion; foreign keys stay', async () => {
    await keep();
    await fixture.edit(name, { RABBITMQ_USER: 'somebody', more: 'x' });
    await fixture.clock.advance(checkIntervalMs - 1);
    await keep();
    expect(await fixture.data(name)).toMatchObject({ RABBITMQ_USER: 'somebody' });
    await fixture.clock.advance(1);
    await keep();
    expect(await fixture.data(name)).toEqual({ ...brokerData, more: 'x' });
    await fixture.delete(name);
    await fixture.clock.advance(checkIntervalMs);
    await keep();
    expect(await fixture.data(name)).toEqual(brokerData);
  });

  it("the legacy operator's Secret is taken over, because the same object owns both", async () => {
    const ownerReferences = ownedBy('uid-1', { blockOwnerDeletion: true });
    await fixture.make(name, { ownerReferences }, { RABBITMQ_URLS: 'old' });
    await keep();
    expect(await fixture.data(name)).toEqual(brokerData);
  });

  it('the Secret of an OpenstackConfig that leaves before its write is not written', async () => {
    const { namespace } = fixture;
    fixture.secrets.keep({ namespace, name: 'osc', uid: 'uid-1' }, broker);
    fixture.secrets.keep({ namespace, name: 'gone', uid: 'uid-2' }, broker);
    fixture.secrets.leave(`${namespace}/gone`);
    await fixture.idle();
    expect(await fixture.data(name)).toEqual(brokerData);
    expect(await fixture.secret('rabbitmq-gone')).toBeUndefined();
  });

  it('only the leader writes Secrets, and only when RABBITMQ_SECRETS is on', async () => {
    fixture.lose();
    await keep();
    expect(await fixture.secret(name)).toBeUndefined();
    expect(fixture.requests()).toBe(0);
    await fixture.follow();
    fixture.lead({ isOn: false });
    await keep();
    expect(await fixture.secret(name)).toBeUndefined();
    expect(fixture.requests()).toBe(0);
  });
});

describe('foreign Secret under the name of a broker Secret', () => {
  it.each([
    ['without owner', {}],
    ['with our label', { labels: { 'app.kubernetes.io/managed-by': 'multinic-operator' } }],
    ["another OpenstackConfig's", { ownerReferences: ownedBy('other', { name: 'long-osc' }) }],
    ["another kind's", { ownerReferences: ownedBy('other', { kind: 'RabbitmqCluster' }) }],
  ])('a foreign Secret stays unchanged and is reported once: %s', async (_name, metadata) => {
    await fixture.make(name, metadata, { RABBITMQ_URLS: 'theirs' });
    for (let n = 0; n < 5; n++) {
      await keep();
      await fixture.clock.advance(retryMs);
    }
    expect(await fixture.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
    expect(fixture.events).toEqual([
      expect.stringMatching(
        /^Warning SecretNotOurs: Secret .*\/rabbitmq-osc does not belong to this/,
      ),
    ]);
    expect(fixture.lines).toHaveLength(1);
    await fixture.delete(name);
    await keep();
    expect(await fixture.data(name)).toEqual(brokerData);
  });

  it('a foreign Secret created between read and write stays unchanged', async () => {
    await fixture.leadWith({
      beforeWrite: async () => fixture.make(name, {}, { RABBITMQ_URLS: 'theirs' }),
    });
    await keep();
    expect(await fixture.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
    await fixture.clock.advance(retryMs);
    await keep();
    expect(fixture.events).toHaveLength(1);
  });

  it('a foreign Secret that replaced ours between read and write stays unchanged', async () => {
    await keep();
    await fixture.leadWith({
      beforeWrite: async () => {
        await fixture.delete(name);
        await fixture.make(name, {}, { RABBITMQ_URLS: 'theirs' });
      },
    });
    await keep({ ...broker, username: 'new' });
    expect(await fixture.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
  });

  it("a former OpenstackConfig's Secret stays until Kubernetes has collected the Secret", async () => {
    await keep();
    await keep(broker, 'uid-2');
    expect((await fixture.secret(name))?.metadata.ownerReferences).toEqual(ownedBy('uid-1'));
    await fixture.delete(name);
    await fixture.clock.advance(retryMs);
    await keep(broker, 'uid-2');
    expect((await fixture.secret(name))?.metadata.ownerReferences).toEqual(ownedBy('uid-2'));
    expect(fixture.events).toEqual([]);
  });

  it('a Secret of another type stays unchanged, because Kubernetes forbids changing the type', async () => {
    const metadata = { ownerReferences: ownedBy('uid-1') };
    await fixture.make(name, metadata, { RABBITMQ_URLS: 'x' }, 'example.com/broker');
    await keep();
    expect(fixture.events).toEqual([expect.stringContaining('has the type "example.com/broker"')]);
  });
});

describe('broker Secret with a failing API server', () => {
  it('a forbidden write is retried after a minute and reported once with the missing right', async () => {
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    await keep();
    await keep();
    expect(fixture.lines).toEqual([
      expect.stringContaining('secretNamespaces, Role multinic-operator-rabbitmq'),
    ]);
    expect(await fixture.secret(name)).toBeUndefined();
    fixture.api.faults.clear();
    await fixture.clock.advance(retryMs);
    await keep();
    expect(await fixture.data(name)).toEqual(brokerData);
  });

  it('a hanging write blocks no caller, allows no second write, and ends with the lease', async () => {
    await fixture.leadWith({ beforeWrite: async (signal) => fixture.hang(signal) });
    for (const each of ['a', 'b', 'c']) {
      fixture.secrets.keep({ namespace: fixture.namespace, name: each, uid: each }, broker);
    }
    await until('one is written', () => fixture.effects.length === 1);
    await fixture.follow();
    expect(fixture.effects).toHaveLength(1);
  });
});
