import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { AccessFixture, gateFor } from '../../../test/fixtures/access.ts';
import { grants, identify } from '../../http/who-may.ts';
import { secrets } from '../../kube/core-resources.ts';
import { createFakeClock } from '../../time/fake-clock.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const [token, granted] = ['multinic-operator-viola-token', 'viola-api-tokens'];
let bed: AccessFixture;

beforeAll(async () => {
  bed = await AccessFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => bed.empty());

type Leader = ReturnType<AccessFixture['leader']>;

async function look(leader: Leader = bed.leader()): Promise<Leader> {
  await leader.tokens.round(bed.signal);
  return leader;
}

const grantList = async () => grants.parse(parse((await bed.data(granted))['operator.yaml'] ?? ''));

/** Whom Viola takes the bearer of a token for. */
async function known(bearer: string | undefined) {
  return identify(await grantList(), `Bearer ${bearer}`);
}

describe('the keeper of the token', () => {
  it('makes a token, then its grant for everything; nothing is shown before', async () => {
    const leader = bed.leader({ deathAt: 2 });
    await expect(look(leader)).rejects.toThrow('killed');
    expect(leader.effects).toEqual([
      'before operator.viola-token.write',
      'after operator.viola-token.write',
    ]);
    expect(leader.tokens.inUse).toBeUndefined();
    const { tokens, effects } = await look();
    expect(effects).toEqual([
      'before operator.viola-grants.write',
      'after operator.viola-grants.write',
    ]);
    expect(tokens.inUse).toMatch(/^[0-9a-f]{64}$/);
    expect(await bed.data(token)).toEqual({ token: tokens.inUse });
    expect(await known(tokens.inUse)).toMatchObject({
      name: 'operator',
      providers: ['*'],
      verbs: ['read', 'write', 'delete'],
    });
  });

  it('writes nothing while there is nothing to do, and another leader shows the same token', async () => {
    const first = await look();
    const second = await look();
    expect([second.effects, second.tokens.inUse]).toEqual([[], first.tokens.inUse]);
  });

  it('renews the token after 30 days, and shows the next one when Viola has known it for 10 minutes', async () => {
    const clock = createFakeClock();
    const leader = await look(bed.leader({ clock }));
    const old = leader.tokens.inUse;
    await clock.advance(30 * dayMs);
    await look(leader);
    const { next } = await bed.data(token);
    expect(leader.tokens.inUse).toBe(old);
    expect(await known(next)).toMatchObject({ name: 'operator' });
    await clock.advance(10 * minuteMs - 1);
    await look(leader);
    expect(leader.tokens.inUse).toBe(old);
    await clock.advance(1);
    await look(leader);
    expect(leader.tokens.inUse).toBe(next);
    expect(await bed.data(token)).toEqual({ token: next });
    expect(await known(old)).toMatchObject({ name: 'operator' });
    await clock.advance(20 * minuteMs);
    await look(leader);
    await expect(known(old)).rejects.toThrow('not in the token file');
    expect(await grantList()).toHaveLength(1);
  });

  it('waits anew when somebody else leads in the middle of that', async () => {
    const clock = createFakeClock();
    const first = await look(bed.leader({ clock }));
    await clock.advance(30 * dayMs);
    await look(first);
    await clock.advance(9 * minuteMs);
    const second = await look(bed.leader({ clock }));
    await clock.advance(9 * minuteMs);
    await look(second);
    expect(second.tokens.inUse).toBe(first.tokens.inUse);
    await clock.advance(minuteMs);
    await look(second);
    expect(second.tokens.inUse).not.toBe(first.tokens.inUse);
  });

  it.each([
    ['is deleted', async () => bed.delete(token)],
    ['is empty', async () => bed.edit(token, { token: '' })],
    ['may not stand in a header', async () => bed.edit(token, { token: 'a token of more\nlines' })],
  ])('shows the old token until Viola knows the new one when the Secret %s', async (_, harm) => {
    const clock = createFakeClock();
    const leader = await look(bed.leader({ clock }));
    const old = leader.tokens.inUse;
    await harm();
    await look(leader);
    const made = (await bed.data(token))['token'];
    expect(made).not.toBe(old);
    expect(leader.tokens.inUse).toBe(old);
    await clock.advance(10 * minuteMs);
    await look(leader);
    expect(leader.tokens.inUse).toBe(made);
    await clock.advance(10 * minuteMs);
    await look(leader);
    expect(await grantList()).toHaveLength(1);
  });

  it.each([
    ['are deleted', async () => bed.delete(granted)],
    ['are cut short', async () => bed.edit(granted, { 'operator.yaml': '- name: op' })],
    ['are taken away', async () => bed.edit(granted, { 'operator.yaml': null })],
    [
      'grant less',
      async () =>
        bed.edit(granted, {
          'operator.yaml':
            (await bed.data(granted))['operator.yaml']?.replace('delete', 'read') ?? '',
        }),
    ],
  ])('makes the grants again when they %s, for the same token', async (_, harm) => {
    const leader = await look();
    const old = leader.tokens.inUse;
    await harm();
    await look(leader);
    expect(leader.tokens.inUse).toBe(old);
    expect((await known(old)).verbs).toContain('delete');
    expect((await look()).tokens.inUse).toBe(old);
  });

  it('leaves the tokens of people alone', async () => {
    await look();
    await bed.edit(granted, { 'dashboard.yaml': '[]' });
    await bed.edit(granted, { 'operator.yaml': 'broken' });
    await look();
    expect((await bed.data(granted))['dashboard.yaml']).toBe('[]');
    expect(await grantList()).toHaveLength(1);
  });

  it('takes a token that somebody put there, once Viola knows it', async () => {
    const clock = createFakeClock();
    const leader = await look(bed.leader({ clock }));
    await bed.edit(token, { token: 'one-of-our-own-making' });
    await look(leader);
    await clock.advance(10 * minuteMs);
    await look(leader);
    expect(leader.tokens.inUse).toBe('one-of-our-own-making');
  });

  it('renews a token of which nobody knows the age', async () => {
    await look();
    const metadata = { annotations: { 'multinic.io/token-since': 'long ago' } };
    await bed.client.patch(secrets, { namespace: bed.namespace, name: token }, { metadata });
    await look();
    expect(Object.keys(await bed.data(token)).toSorted()).toEqual(['next', 'token']);
    const noted = (await bed.secret(token))?.metadata.annotations;
    expect(noted).toEqual({ 'multinic.io/token-since': '2026-01-01T00:00:00Z' });
  });

  it('goes on from wherever a leader died', async () => {
    for (let deathAt = 0; deathAt < 4; deathAt++) {
      await bed.empty();
      await expect(look(bed.leader({ deathAt }))).rejects.toThrow('killed');
      const { tokens } = await look();
      expect(await known(tokens.inUse)).toMatchObject({ name: 'operator' });
      expect(await grantList()).toHaveLength(1);
    }
  });

  it('lets one of two leaders write, and both show what it wrote', async () => {
    const gate = gateFor(2);
    const leaders = [bed.leader({ gate }), bed.leader({ gate })];
    const ended = await Promise.allSettled(leaders.map(look));
    const refused = ended.filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { about: token, isRace: true } }]);
    for (const leader of leaders) await look(leader);
    const [first, second] = leaders.map(({ tokens }) => tokens.inUse);
    expect(first).toBe(second);
    expect(await known(first)).toMatchObject({ name: 'operator' });
  });

  it('goes on with what it has while the API server refuses', async () => {
    const leader = await look();
    const old = leader.tokens.inUse;
    await bed.delete(token, granted);
    bed.api.faults.answer({ verb: 'patch', resource: 'secrets', status: 403, reason: 'Forbidden' });
    await expect(look(leader)).rejects.toMatchObject({ about: token, isRace: false });
    expect(leader.tokens.inUse).toBe(old);
  });

  it('says so when something changes what it writes, instead of writing for ever', async () => {
    const leader = bed.leader({ changes: (secret) => ({ ...secret, data: {} }) });
    await expect(look(leader)).rejects.toThrow(
      'something, such as an admission webhook, changes it',
    );
    expect(leader.tokens.inUse).toBeUndefined();
    expect(leader.effects).toHaveLength(12);
  });

  it('shows the token of today when it leads again after somebody else renewed it', async () => {
    const first = await look();
    const clock = createFakeClock(new Date(bed.clock.now().getTime() + 30 * dayMs));
    const other = await look(bed.leader({ clock }));
    for (const minutes of [10, 20]) {
      await clock.advance(minutes * minuteMs);
      await look(other);
    }
    expect(other.tokens.inUse).not.toBe(first.tokens.inUse);
    await look(first);
    expect(first.tokens.inUse).toBe(other.tokens.inUse);
  });

  it('waits anew for what was granted while somebody else led', async () => {
    const clock = createFakeClock();
    const leader = await look(bed.leader({ clock }));
    await clock.advance(30 * dayMs);
    await look(leader);
    await clock.advance(10 * minuteMs);
    leader.tokens.lead();
    await look(leader);
    expect(await bed.data(token)).toHaveProperty('next');
  });

  it('takes no token into use, and grants none, that was withdrawn before it led again', async () => {
    const leader = await look();
    const withdrawn = leader.tokens.inUse;
    await bed.delete(token, granted);
    const { tokens } = await look();
    await bed.delete(granted);
    leader.tokens.lead();
    expect(leader.tokens.inUse).toBe(withdrawn);
    await look(leader);
    expect(leader.tokens.inUse).toBe(tokens.inUse);
    await expect(known(withdrawn)).rejects.toThrow('not in the token file');
  });

  it('takes a next token that is the one in use for none', async () => {
    const clock = createFakeClock();
    const leader = await look(bed.leader({ clock }));
    await bed.edit(token, { next: leader.tokens.inUse ?? '' });
    const before = leader.effects.length;
    for (const minutes of [0, 10, 10]) {
      await clock.advance(minutes * minuteMs);
      await look(leader);
    }
    expect(leader.effects).toHaveLength(before);
  });

  it('does not let the grants grow when somebody deletes the token again and again', async () => {
    const leader = await look();
    const shown = leader.tokens.inUse;
    for (let times = 0; times < 12; times++) {
      await bed.delete(token);
      await look(leader);
    }
    expect(leader.tokens.inUse).toBe(shown);
    expect((await grantList()).length).toBeLessThanOrEqual(6);
    await expect(known(shown)).resolves.toMatchObject({ name: 'operator' });
  });

  it('logs no token', async () => {
    const { tokens } = await look();
    expect(bed.lines.join('')).toContain('writing a Secret of the access to Viola');
    expect(bed.lines.join('')).not.toContain(tokens.inUse);
  });
});
