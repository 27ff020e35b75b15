import { type AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture, gateFor } from '../../../../test/fixtures/access.ts';
import { authoritiesIn, pairIn } from '../../../certificates/certificate.ts';
import { issueAuthority, issueServer } from '../../../certificates/issue.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';

const dayMs = 86_400_000;
const [ca, certificate] = ['multinic-ca', 'viola-api-tls'];
let fixture: AccessFixture;

beforeAll(async () => {
  fixture = await AccessFixture.start();
});
afterAll(async () => fixture[Symbol.asyncDispose]());
beforeEach(async () => fixture.empty());

async function runRound(leader = fixture.leader()) {
  await leader.tls.round(fixture.signal);
  return leader;
}

/** Returns a clock `days` after the fixture's clock. */
function later(days: number) {
  return createFakeClock(new Date(fixture.clock.now().getTime() + days * dayMs));
}

const serverPair = async () => {
  const held = await fixture.data(certificate);
  return pairIn(held['tls.crt'], held['tls.key']);
};

const authorityIds = async () =>
  authoritiesIn((await fixture.data(ca))['ca.crt']).map(({ id }) => id);

const trustedBy = ({ tls }: ReturnType<AccessFixture['leader']>) =>
  authoritiesIn(tls.trusted)
    .map(({ id }) => id)
    .toSorted();

describe("Viola's certificate and its authority", () => {
  it('a first round makes an authority and a certificate for each name of Viola', async () => {
    const now = Date.now();
    const { tls, effects } = await runRound(
      fixture.leader({ clock: createFakeClock(new Date(now)) }),
    );
    expect(effects.filter((effect) => effect.startsWith('after'))).toEqual([
      'after operator.viola-ca.write',
      'after operator.viola-certificate.write',
    ]);
    const held = await fixture.data(certificate);
    expect(Object.keys(held).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    expect((await fixture.secret(certificate))?.type).toBe('kubernetes.io/tls');
    const server = createServer({ cert: held['tls.crt'], key: held['tls.key'] });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const inNamespace = `viola-api.${fixture.namespace}`;
    const names = [
      'viola-api',
      inNamespace,
      `${inNamespace}.svc`,
      `${inNamespace}.svc.cluster.local`,
    ];
    for (const servername of [...names, 'localhost', '127.0.0.1']) {
      await new Promise<void>((resolve, reject) => {
        const name = servername === '127.0.0.1' ? {} : { servername };
        const socket = connect({ host: '127.0.0.1', port, ...name, ca: tls.trusted }, () => {
          socket.destroy();
          resolve();
        });
        socket.on('error', reject);
      });
    }
    server.close();
    const { untilMs = 0 } = (await serverPair())?.certificate ?? {};
    expect(Math.round((untilMs - now) / dayMs)).toBe(90);
    const [authority] = authoritiesIn(tls.trusted);
    expect(Math.round(((authority?.untilMs ?? 0) - now) / dayMs)).toBe(3_650);
  });

  it('a round writes nothing when nothing is due, and a second leader trusts the same authority', async () => {
    const first = await runRound();
    const before = fixture.api.audit.length;
    const second = await runRound();
    const asked = fixture.api.audit
      .slice(before)
      .map(({ verb, resource }) => `${verb} ${resource}`);
    expect(asked).toEqual(['get secrets', 'get secrets']);
    expect(second.tls.trusted).toBe(first.tls.trusted);
  });

  it.each([
    ['is deleted', async () => fixture.delete(certificate)],
    ['has lost its key', async () => fixture.edit(certificate, { 'tls.key': '' })],
    [
      "has another certificate's key",
      async () =>
        fixture.edit(certificate, {
          'tls.key': issueAuthority({ from: new Date(0), until: new Date() }).key,
        }),
    ],
    [
      'is cut short',
      async () => fixture.edit(certificate, { 'tls.crt': '-----BEGIN CERTIFICATE-----\nMIIB' }),
    ],
    [
      'is from a foreign authority',
      async () => {
        const { certificate: cert, key } = issueAuthority({
          from: new Date(0),
          until: new Date('2040-01-01'),
        });
        await fixture.edit(certificate, { 'tls.crt': cert, 'tls.key': key });
      },
    ],
  ])('the same authority issues a new certificate when the old certificate %s', async (_, harm) => {
    const { tls } = await runRound();
    const [before, authorities] = [await serverPair(), await fixture.data(ca)];
    await harm();
    await runRound();
    const after = await serverPair();
    expect(after?.certificate.id).not.toBe(before?.certificate.id);
    expect(await fixture.data(ca)).toEqual(authorities);
    expect(tls.trusted).toBe(authorities['ca.crt']);
  });

  it.each([
    ['is deleted', async () => fixture.delete(ca)],
    ['has lost its key', async () => fixture.edit(ca, { 'tls.key': null })],
    ['has an invalid certificate', async () => fixture.edit(ca, { 'tls.crt': 'hello' })],
    [
      'has a server certificate',
      async () => {
        const validity = { from: new Date(0), until: new Date('2040-01-01') };
        const made = issueServer(issueAuthority(validity), ['viola-api'], validity);
        await fixture.edit(ca, { 'tls.crt': made.certificate, 'tls.key': made.key });
      },
    ],
  ])(
    "a new authority is made when the old authority %s, and Viola's present certificate stays trusted",
    async (_, harm) => {
      await runRound();
      const [old] = await authorityIds();
      const shown = await serverPair();
      await harm();
      const { tls, effects } = await runRound();
      expect(effects.filter((effect) => effect.startsWith('after'))).toEqual([
        'after operator.viola-ca.write',
        'after operator.viola-certificate.write',
      ]);
      expect(await serverPair()).toEqual(shown);
      const [signing, ...others] = await authorityIds();
      expect(signing).not.toBe(old);
      expect(others).toEqual([old]);
      expect(tls.trusted).toBe((await fixture.data(certificate))['ca.crt']);
    },
  );

  it('a round restores an edited ca.crt', async () => {
    await runRound();
    const before = await fixture.data(ca);
    await fixture.edit(ca, { 'ca.crt': `# edited\n${before['ca.crt']}` });
    await fixture.edit(certificate, { 'ca.crt': null });
    await runRound();
    expect(await fixture.data(ca)).toEqual(before);
    expect((await fixture.data(certificate))['ca.crt']).toBe(before['ca.crt']);
  });

  it('a round replaces the certificate at once after the operator was down for a year', async () => {
    await runRound();
    const [authorities, shown] = [await authorityIds(), await serverPair()];
    await runRound(fixture.leader({ clock: later(365) }));
    expect(await authorityIds()).toEqual(authorities);
    expect((await serverPair())?.certificate.id).not.toBe(shown?.certificate.id);
  });

  it('the next authority is made a year before expiry, and both authorities are trusted until expiry', async () => {
    await runRound();
    const old = await authorityIds();
    const soon = fixture.leader({ clock: later(3_650 - 364) });
    await runRound(soon);
    const [signing, ...others] = await authorityIds();
    expect([others, old.includes(signing ?? '')]).toEqual([old, false]);
    await runRound(fixture.leader({ clock: later(3_651) }));
    expect(await authorityIds()).toEqual([signing]);
    expect(soon.tls.trusted).toContain('BEGIN CERTIFICATE');
  });

  it('a clock 30 days behind renews authority and certificate, and the corrected clock renews nothing', async () => {
    await runRound();
    const { tls } = await runRound(fixture.leader({ clock: later(-30) }));
    expect(authoritiesIn(tls.trusted)).toHaveLength(2);
    const held = await authorityIds();
    await runRound(fixture.leader({ clock: later(0) }));
    expect(await authorityIds()).toEqual(held);
  });

  it('a new certificate is valid and stays unchanged on a clock 23 h behind', async () => {
    await runRound();
    const held = await fixture.data(certificate);
    const { effects } = await runRound(fixture.leader({ clock: later(-23 / 24) }));
    expect([effects, await fixture.data(certificate)]).toEqual([[], held]);
  });

  it('a new leader completes a round after a crash at any write', async () => {
    for (let deathAt = 0; deathAt < 4; deathAt++) {
      await fixture.empty();
      const died = fixture.leader({ deathAt });
      await expect(died.tls.round(fixture.signal)).rejects.toThrow('killed');
      const { tls } = await runRound();
      const held = await serverPair();
      expect(held).toBeDefined();
      expect(tls.trusted).toBe((await fixture.data(certificate))['ca.crt']);
    }
  });

  it('one of two concurrent leaders writes, and both trust the same authority', async () => {
    const gate = gateFor(2);
    const leaders = [fixture.leader({ gate }), fixture.leader({ gate })];
    const ended = await Promise.allSettled(
      leaders.map(async ({ tls }) => tls.round(fixture.signal)),
    );
    const refused = ended.filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { about: ca, isRace: true } }]);
    for (const leader of leaders) await runRound(leader);
    const [first, second] = leaders.map(({ tls }) => tls.trusted);
    expect(first).toBe(second);
    expect(await authorityIds()).toHaveLength(1);
  });

  it('trusted authorities stay trusted while the API server refuses requests', async () => {
    const leader = await runRound();
    const { trusted } = leader.tls;
    await fixture.delete(ca);
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    await expect(runRound(leader)).rejects.toMatchObject({ name: 'SecretTrouble', about: ca });
    expect(leader.tls.trusted).toBe(trusted);
    fixture.api.faults.answer({
      verb: 'get',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    await expect(runRound(leader)).rejects.toMatchObject({ about: ca, isRace: false });
    expect(leader.tls.trusted).toBe(trusted);
    await runRound(leader);
    expect(leader.tls.trusted).toContain(trusted);
    const both = trustedBy(leader);
    expect(both).toHaveLength(2);
    await fixture.delete(ca, certificate);
    fixture.api.faults.answer({
      verb: 'patch',
      resource: 'secrets',
      status: 403,
      reason: 'Forbidden',
    });
    await expect(runRound(leader)).rejects.toMatchObject({ about: ca });
    expect(trustedBy(leader)).toEqual(both);
  });

  it("Viola's authority stays trusted when both Secrets are deleted at once", async () => {
    const leader = await runRound();
    const [shown] = await authorityIds();
    await fixture.delete(ca, certificate);
    await runRound(leader);
    expect(trustedBy(leader)).toContain(shown);
    expect((await fixture.data(certificate))['ca.crt']).toBe(leader.tls.trusted);
    await runRound(leader);
    expect(await authorityIds()).toHaveLength(2);
  });

  it('a new term drops an authority withdrawn meanwhile', async () => {
    const leader = await runRound();
    const [withdrawn] = await authorityIds();
    await fixture.delete(ca, certificate);
    await runRound();
    leader.tls.lead();
    expect(trustedBy(leader)).toEqual([withdrawn]);
    await runRound(leader);
    const held = await authorityIds();
    expect(held).not.toContain(withdrawn);
    expect(trustedBy(leader)).toEqual(held);
  });

  it('a round fails instead of writing endlessly when a webhook changes the Secret', async () => {
    const leader = fixture.leader({
      changes: (secret) => ({ ...secret, data: { 'tls.crt': 'aGVsbG8=' } }),
    });
    await expect(runRound(leader)).rejects.toThrow(
      'another client, such as an admission webhook, changes the Secret after each write',
    );
    expect(leader.effects).toHaveLength(8);
    expect(leader.tls.trusted).toBeUndefined();
  });

  it('the log contains no key', async () => {
    await runRound();
    expect(fixture.lines.join('')).toContain('writing Secret for access to Viola');
    expect(fixture.lines.join('')).not.toContain('PRIVATE KEY');
  });
});
