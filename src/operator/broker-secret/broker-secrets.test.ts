import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SecretsFixture } from '../../../test/fixtures/secrets.ts';
import { until } from '../../time/fake-clock.ts';
import { lookedAfterMs, triedAgainMs } from './broker-secrets.ts';

const broker = { username: 'r', password: 'secret-word', hosts: ['10.0.0.1:5672', '10.0.0.2'] };
const said = {
  RABBITMQ_URLS: '10.0.0.1:5672,10.0.0.2',
  RABBITMQ_USER: 'r',
  RABBITMQ_PASSWORD: 'secret-word',
};
const name = 'rabbitmq-osc';

let bed: SecretsFixture;

beforeAll(async () => {
  bed = await SecretsFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => bed.empty());
afterEach(async () => {
  await bed.follow();
  expect([...bed.lines, ...bed.events].join('\n')).not.toContain('secret-word');
});

/** What the OpenstackConfig of this uid says of its broker has been seen to. */
async function kept(of = broker, uid = 'uid-1'): Promise<void> {
  bed.secrets.keep({ namespace: bed.namespace, name: 'osc', uid }, of);
  await bed.idle();
}

function ownedBy(uid: string, change: object = {}) {
  const owner = { apiVersion: 'multinic.example.com/v1alpha1', kind: 'OpenstackConfig', uid };
  return [{ ...owner, name: 'osc', controller: true, ...change }];
}

describe('the Secret of a broker', () => {
  it('says what Contrabass says, belongs to its OpenstackConfig, and is written once', async () => {
    for (let n = 0; n < 5; n++) await kept();
    const secret = await bed.secret(name);
    expect(await bed.data(name)).toEqual(said);
    expect(secret?.type).toBe('Opaque');
    expect(secret?.metadata.ownerReferences).toEqual(ownedBy('uid-1'));
    expect(bed.lines.join()).toContain(`"secretName":"${bed.namespace}/${name}"`);
    await bed.clock.advance(lookedAfterMs);
    await kept();
    expect(bed.effects).toEqual([
      'before operator.broker-secret.write',
      'after operator.broker-secret.write',
    ]);
  });

  it('follows what Contrabass says at once, and stays when it says nothing', async () => {
    await kept();
    await kept({ ...broker, password: 'another' });
    expect(await bed.data(name)).toEqual({ ...said, RABBITMQ_PASSWORD: 'another' });
    await kept({ ...broker, hosts: [] });
    expect(await bed.data(name)).toEqual({ ...said, RABBITMQ_PASSWORD: 'another' });
  });

  it('is put right some minutes after somebody edited or deleted it; keys of others stay', async () => {
    await kept();
    await bed.edit(name, { RABBITMQ_USER: 'somebody', more: 'x' });
    await bed.clock.advance(lookedAfterMs - 1);
    await kept();
    expect(await bed.data(name)).toMatchObject({ RABBITMQ_USER: 'somebody' });
    await bed.clock.advance(1);
    await kept();
    expect(await bed.data(name)).toEqual({ ...said, more: 'x' });
    await bed.delete(name);
    await bed.clock.advance(lookedAfterMs);
    await kept();
    expect(await bed.data(name)).toEqual(said);
  });

  it('of the deployed operator is taken over: it belongs to the same object', async () => {
    const ownerReferences = ownedBy('uid-1', { blockOwnerDeletion: true });
    await bed.make(name, { ownerReferences }, { RABBITMQ_URLS: 'old' });
    await kept();
    expect(await bed.data(name)).toEqual(said);
  });

  it('of an OpenstackConfig that goes before its turn comes is not written', async () => {
    const { namespace } = bed;
    bed.secrets.keep({ namespace, name: 'osc', uid: 'uid-1' }, broker);
    bed.secrets.keep({ namespace, name: 'gone', uid: 'uid-2' }, broker);
    bed.secrets.forget(`${namespace}/gone`);
    await bed.idle();
    expect(await bed.data(name)).toEqual(said);
    expect(await bed.secret('rabbitmq-gone')).toBeUndefined();
  });

  it('is written by a leader alone, and by nobody who is told not to', async () => {
    bed.lose();
    await kept();
    expect(await bed.secret(name)).toBeUndefined();
    expect(bed.requests()).toBe(0);
    await bed.follow();
    bed.lead({ isOn: false });
    await kept();
    expect(await bed.secret(name)).toBeUndefined();
    expect(bed.requests()).toBe(0);
  });
});

describe('a Secret of that name that is not ours', () => {
  it.each([
    ['of nobody', {}],
    ['with our label', { labels: { 'app.kubernetes.io/managed-by': 'multinic-operator' } }],
    ['of another OpenstackConfig', { ownerReferences: ownedBy('other', { name: 'long-osc' }) }],
    ['of another kind', { ownerReferences: ownedBy('other', { kind: 'RabbitmqCluster' }) }],
  ])('is left alone, and told once: %s', async (_name, metadata) => {
    await bed.make(name, metadata, { RABBITMQ_URLS: 'theirs' });
    for (let n = 0; n < 5; n++) {
      await kept();
      await bed.clock.advance(triedAgainMs);
    }
    expect(await bed.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
    expect(bed.events).toEqual([
      expect.stringMatching(
        /^Warning SecretNotOurs: Secret .*\/rabbitmq-osc was not made for this/,
      ),
    ]);
    expect(bed.lines).toHaveLength(1);
    await bed.delete(name);
    await kept();
    expect(await bed.data(name)).toEqual(said);
  });

  it('is left alone when it has come since it was looked for', async () => {
    await bed.leadWith({
      beforeWrite: async () => bed.make(name, {}, { RABBITMQ_URLS: 'theirs' }),
    });
    await kept();
    expect(await bed.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
    await bed.clock.advance(triedAgainMs);
    await kept();
    expect(bed.events).toHaveLength(1);
  });

  it('is not written over when it was replaced since it was looked at', async () => {
    await kept();
    await bed.leadWith({
      beforeWrite: async () => {
        await bed.delete(name);
        await bed.make(name, {}, { RABBITMQ_URLS: 'theirs' });
      },
    });
    await kept({ ...broker, username: 'new' });
    expect(await bed.data(name)).toEqual({ RABBITMQ_URLS: 'theirs' });
  });

  it('of a former object of the name is waited for until Kubernetes has taken it', async () => {
    await kept();
    await kept(broker, 'uid-2');
    expect((await bed.secret(name))?.metadata.ownerReferences).toEqual(ownedBy('uid-1'));
    await bed.delete(name);
    await bed.clock.advance(triedAgainMs);
    await kept(broker, 'uid-2');
    expect((await bed.secret(name))?.metadata.ownerReferences).toEqual(ownedBy('uid-2'));
    expect(bed.events).toEqual([]);
  });

  it('of another type is left alone: no write can change it', async () => {
    const metadata = { ownerReferences: ownedBy('uid-1') };
    await bed.make(name, metadata, { RABBITMQ_URLS: 'x' }, 'example.com/broker');
    await kept();
    expect(bed.events).toEqual([expect.stringContaining('has the type example.com/broker')]);
  });
});

describe('an API server in the way', () => {
  it('that refuses is asked again in a minute, and told once with what to do', async () => {
    bed.api.faults.answer({ verb: 'patch', resource: 'secrets', status: 403, reason: 'Forbidden' });
    await kept();
    await kept();
    expect(bed.lines).toEqual([
      expect.stringContaining('secretNamespaces, Role multinic-operator-rabbitmq'),
    ]);
    expect(await bed.secret(name)).toBeUndefined();
    bed.api.faults.clear();
    await bed.clock.advance(triedAgainMs);
    await kept();
    expect(await bed.data(name)).toEqual(said);
  });

  it('that hangs holds nobody up, is asked one thing at a time, and is left with the lease', async () => {
    await bed.leadWith({ beforeWrite: async (signal) => bed.hang(signal) });
    for (const each of ['a', 'b', 'c']) {
      bed.secrets.keep({ namespace: bed.namespace, name: each, uid: each }, broker);
    }
    await until('one is written', () => bed.effects.length === 1);
    await bed.follow();
    expect(bed.effects).toHaveLength(1);
  });
});
