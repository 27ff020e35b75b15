import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { AccessFixture, gateFor } from '../../../../test/fixtures/access.ts';
import { grants, identify } from '../../../http/who-may.ts';
import { secrets } from '../../../kube/core-resources.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const [token, granted] = ['multinic-operator-viola-token', 'viola-api-tokens'];
let fixture: AccessFixture;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => fixture.empty());

type Leader = ReturnType<AccessFixture['leader']>;

async function runRound(leader: Leader = fixture.leader()): Promise<Leader> {
  await leader.tokens.round(fixture.signal);
  return leader;
}

const grantList = async () =>
  grants.parse(parse((await fixture.data(granted))['operator.yaml'] ?? ''));

/** Returns the identity that Viola gives a token's bearer. */
async function known(bearer: string | undefined) {
  return identify(await grantList(), `Bearer ${bearer}`);
}

describe("the operator's token for Viola", () => {
  it('a first round writes the token, then its grant; the token is unused before the grant', async () => {
    const leader = fixture.leader({ deathAt: 2 });
    await expect(runRound(leader)).rejects.toThrow('killed');
    expect(leader.effects).toEqual([
      'before operator.viola-token.write',
      'after operator.viola-token.write',
    ]);
    expect(leader.tokens.inUse).toBeUndefined();
    const { tokens, effects } = await runRound();
    expect(effects).toEqual([
      'before operator.viola-grants.write',
      'after operator.viola-grants.write',
    ]);
    expect(tokens.inUse).toMatch(/^[0-9a-f]{64}$/);
    expect(await fixture.data(token)).toEqual({ token: tokens.inUse });
    expect(await known(tokens.inUse)).toMatchObject({
      name: 'operator',
      providers: ['*'],
      verbs: ['read', 'write', 'delete'],
    });
  });

  it('a round writes nothing when nothing is due, and a second leader uses the same token', async () => {
    const first = await runRound();
    const second = await runRound();
    expect([second.effects, second.tokens.inUse]).toEqual([[], first.tokens.inUse]);
  });

  it('the token is renewed after 30 days, and the next token is used 10 minutes later', async () => {
    const clock = createFakeClock();
    const leader = await runRound(fixture.leader({ clock }));
    const old = leader.tokens.inUse;
    await clock.advance(30 * dayMs);
    await runRound(leader);
    const { next } = await fixture.data(token);
    expect(leader.tokens.inUse).toBe(old);
    expect(await known(next)).toMatchObject({ name: 'operator' });
    await clock.advance(10 * minuteMs - 1);
    await runRound(leader);
    expect(leader.tokens.inUse).toBe(old);
    await clock.advance(1);
    await runRound(leader);
    expect(leader.tokens.inUse).toBe(next);
    expect(await fixture.data(token)).toEqual({ token: next });
    expect(await known(old)).toMatchObject({ name: 'operator' });
    await clock.advance(20 * minuteMs);
    await runRound(leader);
    await expect(known(old)).rejects.toThrow('not in the token file');
    expect(await grantList()).toHaveLength(1);
  });

  it('a new leader during a renewal restarts the 10 minutes', async () => {
    const clock = createFakeClock();
    const first = await runRound(fixture.leader({ clock }));
    await clock.advance(30 * dayMs);
    await runRound(first);
    await clock.advance(9 * minuteMs);
    const second = await runRound(fixture.leader({ clock }));
    await clock.advance(9 * minuteMs);
    await runRound(second);
    expect(second.tokens.inUse).toBe(first.tokens.inUse);
    await clock.advance(minuteMs);
    await runRound(second);
    expect(second.tokens.inUse).not.toBe(first.tokens.inUse);
  });

  it.each([
    ['is deleted', async () => fixture.delete(token)],
    ['is empty', async () => fixture.edit(token, { token: '' })],
    [
      'may not stand in a header',
      async () => fixture.edit(token, { token: 'a token of more\nlines' }),
    ],
  ])(
    'the old token stays in use until Viola knows the new token when the Secret %s',
    async (_, harm) => {
      const clock = createFakeClock();
      const leader = await runRound(fixture.leader({ clock }));
      const old = leader.tokens.inUse;
      await harm();
      await runRound(leader);
      const made = (await fixture.data(token))['token'];
      expect(made).not.toBe(old);
      expect(leader.tokens.inUse).toBe(old);
      await clock.advance(10 * minuteMs);
      await runRound(leader);
      expect(leader.tokens.inUse).toBe(made);
      await clock.advance(10 * minuteMs);
      await runRound(leader);
      expect(await grantList()).toHaveLength(1);
    },
  );

  it.each([
    ['are deleted', async () => fixture.delete(granted)],
    ['are cut short', async () => fixture.edit(granted, { 'operator.yaml': '- name: op' })],
    ['are taken away', async () => fixture.edit(granted, { 'operator.yaml': null })],
    [
      'grant less',
      async () =>
        fixture.edit(granted, {
          'operator.yaml':
            (await fixture.data(granted))['operator.yaml']?.replace('delete', 'read') ?? '',
        }),
    ],
  ])('the same token is granted again when the grants %s', async (_, harm) => {
    const leader = await runRound();
    const old = leader.tokens.inUse;
    await harm();
    await runRound(leader);
    expect(leader.tokens.inUse).toBe(old);
    expect((await known(old)).verbs).toContain('delete');
    expect((await runRound()).tokens.inUse).toBe(old);
  });

  it("users' tokens in the grants Secret stay unchanged", async () => {
    await runRound();
    await fixture.edit(granted, { 'dashboard.yaml': '[]' });
    await fixture.edit(granted, { 'operator.yaml': 'broken' });
    await runRound();
    expect((await fixture.data(granted))['dashboard.yaml']).toBe('[]');
    expect(await grantList()).toHaveLength(1);
  });

  it('a token set by a user is used once Viola knows the token', async () => {
    const clock = createFakeClock();
    const leader = await runRound(fixture.leader({ clock }));
    await fixture.edit(token, { token: 'one-of-our-own-making' });
    await runRound(leader);
    await clock.advance(10 * minuteMs);
    await runRound(leader);
    expect(leader.tokens.inUse).toBe('one-of-our-own-making');
  });

  it('a token with unknown age is renewed', async () => {
    await runRound();
    const metadata = { annotations: { 'multinic.io/token-since': 'long ago' } };
    await fixture.client.patch(
      secrets,
      { namespace: fixture.namespace, name: token },
      { metadata },
    );
    await runRound();
    expect(Object.keys(await fixture.data(token)).toSorted()).toEqual(['next', 'token']);
    const noted = (await fixture.secret(token))?.metadata.annotations;
    expect(noted).toEqual({ 'multinic.io/token-since': '2026-01-01T00:00:00Z' });
  });

  it('a new leader completes a round after a crash at any write', async () => {
    for (let deathAt = 0; deathAt < 4; deathAt++) {
      await fixture.empty();
      await expect(runRound(fixture.leader({ deathAt }))).rejects.toThrow('killed');
      const { tokens } = await runRound();
      expect(await known(tokens.inUse)).toMatchObject({ name: 'operator' });
      expect(await grantList()).toHaveLength(1);
    }
  });

  it('one of two concurrent leaders writes, and both use the same token', async () => {
    const gate = gateFor(2);
    const leaders = [fixture.leader({ gate }), fixture.leader({ gate })];
    const ended = await Promise.allSettled(leaders.map(runRound));
    const refused = ended.filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { about: token, isRace: true } }]);
    for (const leader of leaders) await runRound(leader);
    const [first, second] = leaders.map(({ tokens }) => tokens.inUse);
    expect(first).toBe(second);
    expect(await known(first)).toMatchObject({ name: 'operator' });
  });

  it('the token stays in use while the API server refuses writes', async () => {
    const leader = await runRound();
    const old = leader.tokens.inUse;
    await fixture.delete(token, granted);
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    await expect(runRound(leader)).rejects.toMatchObject({ about: token, isRace: false });
    expect(leader.tokens.inUse).toBe(old);
  });

  it('a round fails instead of writing endlessly when a webhook changes the Secret', async () => {
    const leader = fixture.leader({ changes: (secret) => ({ ...secret, data: {} }) });
    await expect(runRound(leader)).rejects.toThrow(
      'another client, such as an admission webhook, changes the Secret after each write',
    );
    expect(leader.tokens.inUse).toBeUndefined();
    expect(leader.effects).toHaveLength(12);
  });

  it('a leader uses the token that another leader renewed meanwhile', async () => {
    const first = await runRound();
    const clock = createFakeClock(new Date(fixture.clock.now().getTime() + 30 * dayMs));
    const other = await runRound(fixture.leader({ clock }));
    for (const minutes of [10, 20]) {
      await clock.advance(minutes * minuteMs);
      await runRound(other);
    }
    expect(other.tokens.inUse).not.toBe(first.tokens.inUse);
    await runRound(first);
    expect(first.tokens.inUse).toBe(other.tokens.inUse);
  });

  it('a new term restarts the wait for a next token', async () => {
    const clock = createFakeClock();
    const leader = await runRound(fixture.leader({ clock }));
    await clock.advance(30 * dayMs);
    await runRound(leader);
    await clock.advance(10 * minuteMs);
    leader.tokens.lead();
    await runRound(leader);
    expect(await fixture.data(token)).toHaveProperty('next');
  });

  it('a new term neither uses nor grants a token withdrawn meanwhile', async () => {
    const leader = await runRound();
    const withdrawn = leader.tokens.inUse;
    await fixture.delete(token, granted);
    const { tokens } = await runRound();
    await fixture.delete(granted);
    leader.tokens.lead();
    expect(leader.tokens.inUse).toBe(withdrawn);
    await runRound(leader);
    expect(leader.tokens.inUse).toBe(tokens.inUse);
    await expect(known(withdrawn)).rejects.toThrow('not in the token file');
  });

  it('a next token equal to the present token is ignored', async () => {
    const clock = createFakeClock();
    const leader = await runRound(fixture.leader({ clock }));
    await fixture.edit(token, { next: leader.tokens.inUse ?? '' });
    const before = leader.effects.length;
    for (const minutes of [0, 10, 10]) {
      await clock.advance(minutes * minuteMs);
      await runRound(leader);
    }
    expect(leader.effects).toHaveLength(before);
  });

  it('the grants stay bounded when the token is deleted repeatedly', async () => {
    const leader = await runRound();
    const shown = leader.tokens.inUse;
    for (let times = 0; times < 12; times++) {
      await fixture.delete(token);
      await runRound(leader);
    }
    expect(leader.tokens.inUse).toBe(shown);
    expect((await grantList()).length).toBeLessThanOrEqual(6);
    await expect(known(shown)).resolves.toMatchObject({ name: 'operator' });
  });

  it('the log contains no token', async () => {
    const { tokens } = await runRound();
    expect(fixture.lines.join('')).toContain('writing Secret for access to Viola');
    expect(fixture.lines.join('')).not.toContain(tokens.inUse);
  });
});
