import { type AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccessFixture, gateFor } from '../../../test/fixtures/access.ts';
import { authoritiesIn, pairIn } from '../../certificates/certificate.ts';
import { issueAuthority, issueServer } from '../../certificates/issue.ts';
import { createFakeClock } from '../../time/fake-clock.ts';

const dayMs = 86_400_000;
const [ca, certificate] = ['multinic-ca', 'viola-api-tls'];
let bed: AccessFixture;

beforeAll(async () => {
  bed = await AccessFixture.start();
});
afterAll(async () => bed[Symbol.asyncDispose]());
beforeEach(async () => bed.empty());

async function look(leader = bed.leader()) {
  await leader.tls.round(bed.signal);
  return leader;
}

/** A clock that shows the time so many days after that of the bed. */
function later(days: number) {
  return createFakeClock(new Date(bed.clock.now().getTime() + days * dayMs));
}

const serverPair = async () => {
  const held = await bed.data(certificate);
  return pairIn(held['tls.crt'], held['tls.key']);
};

const authorityIds = async () => authoritiesIn((await bed.data(ca))['ca.crt']).map(({ id }) => id);

const believedBy = ({ tls }: ReturnType<AccessFixture['leader']>) =>
  authoritiesIn(tls.trusted)
    .map(({ id }) => id)
    .toSorted();

describe('the keeper of the certificate', () => {
  it('makes an authority and a certificate with which Viola is known under all of its names', async () => {
    const now = Date.now();
    const { tls, effects } = await look(bed.leader({ clock: createFakeClock(new Date(now)) }));
    expect(effects.filter((effect) => effect.startsWith('after'))).toEqual([
      'after operator.viola-ca.write',
      'after operator.viola-certificate.write',
    ]);
    const held = await bed.data(certificate);
    expect(Object.keys(held).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    expect((await bed.secret(certificate))?.type).toBe('kubernetes.io/tls');
    const server = createServer({ cert: held['tls.crt'], key: held['tls.key'] });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const inNamespace = `viola-api.${bed.namespace}`;
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

  it('writes nothing while there is nothing to do, and another leader believes the same', async () => {
    const first = await look();
    const before = bed.api.audit.length;
    const second = await look();
    const asked = bed.api.audit.slice(before).map(({ verb, resource }) => `${verb} ${resource}`);
    expect(asked).toEqual(['get secrets', 'get secrets']);
    expect(second.tls.trusted).toBe(first.tls.trusted);
  });

  it.each([
    ['is deleted', async () => bed.delete(certificate)],
    ['has lost its key', async () => bed.edit(certificate, { 'tls.key': '' })],
    [
      'has the key of another one',
      async () =>
        bed.edit(certificate, {
          'tls.key': issueAuthority({ from: new Date(0), until: new Date() }).key,
        }),
    ],
    [
      'is cut short',
      async () => bed.edit(certificate, { 'tls.crt': '-----BEGIN CERTIFICATE-----\nMIIB' }),
    ],
    [
      'is that of somebody else',
      async () => {
        const { certificate: cert, key } = issueAuthority({
          from: new Date(0),
          until: new Date('2040-01-01'),
        });
        await bed.edit(certificate, { 'tls.crt': cert, 'tls.key': key });
      },
    ],
  ])('makes the certificate again when it %s, by the same authority', async (_, harm) => {
    const { tls } = await look();
    const [before, authorities] = [await serverPair(), await bed.data(ca)];
    await harm();
    await look();
    const after = await serverPair();
    expect(after?.certificate.id).not.toBe(before?.certificate.id);
    expect(await bed.data(ca)).toEqual(authorities);
    expect(tls.trusted).toBe(authorities['ca.crt']);
  });

  it.each([
    ['is deleted', async () => bed.delete(ca)],
    ['has lost its key', async () => bed.edit(ca, { 'tls.key': null })],
    ['has a certificate that is none', async () => bed.edit(ca, { 'tls.crt': 'hello' })],
    [
      'has a certificate that is no authority',
      async () => {
        const validity = { from: new Date(0), until: new Date('2040-01-01') };
        const made = issueServer(issueAuthority(validity), ['viola-api'], validity);
        await bed.edit(ca, { 'tls.crt': made.certificate, 'tls.key': made.key });
      },
    ],
  ])(
    'makes the authority again when it %s, and goes on believing what Viola shows',
    async (_, harm) => {
      await look();
      const [old] = await authorityIds();
      const shown = await serverPair();
      await harm();
      const { tls, effects } = await look();
      expect(effects.filter((effect) => effect.startsWith('after'))).toEqual([
        'after operator.viola-ca.write',
        'after operator.viola-certificate.write',
      ]);
      expect(await serverPair()).toEqual(shown);
      const [signing, ...others] = await authorityIds();
      expect(signing).not.toBe(old);
      expect(others).toEqual([old]);
      expect(tls.trusted).toBe((await bed.data(certificate))['ca.crt']);
    },
  );

  it('gives ca.crt its right form again', async () => {
    await look();
    const before = await bed.data(ca);
    await bed.edit(ca, { 'ca.crt': `# edited\n${before['ca.crt']}` });
    await bed.edit(certificate, { 'ca.crt': null });
    await look();
    expect(await bed.data(ca)).toEqual(before);
    expect((await bed.data(certificate))['ca.crt']).toBe(before['ca.crt']);
  });

  it('makes a certificate at once after the operator was away for a year', async () => {
    await look();
    const [authorities, shown] = [await authorityIds(), await serverPair()];
    await look(bed.leader({ clock: later(365) }));
    expect(await authorityIds()).toEqual(authorities);
    expect((await serverPair())?.certificate.id).not.toBe(shown?.certificate.id);
  });

  it('makes the next authority a year before the end of the last, and believes both until then', async () => {
    await look();
    const old = await authorityIds();
    const soon = bed.leader({ clock: later(3_650 - 364) });
    await look(soon);
    const [signing, ...others] = await authorityIds();
    expect([others, old.includes(signing ?? '')]).toEqual([old, false]);
    await look(bed.leader({ clock: later(3_651) }));
    expect(await authorityIds()).toEqual([signing]);
    expect(soon.tls.trusted).toContain('BEGIN CERTIFICATE');
  });

  it('makes both anew when the clock was set back beyond their beginning, and needs neither again later', async () => {
    await look();
    const { tls } = await look(bed.leader({ clock: later(-30) }));
    expect(authoritiesIn(tls.trusted)).toHaveLength(2);
    const held = await authorityIds();
    await look(bed.leader({ clock: later(0) }));
    expect(await authorityIds()).toEqual(held);
  });

  it('makes what holds on clocks that are hours behind, and makes it again on none of them', async () => {
    await look();
    const held = await bed.data(certificate);
    const { effects } = await look(bed.leader({ clock: later(-23 / 24) }));
    expect([effects, await bed.data(certificate)]).toEqual([[], held]);
  });

  it('goes on from wherever a leader died', async () => {
    for (let deathAt = 0; deathAt < 4; deathAt++) {
      await bed.empty();
      const died = bed.leader({ deathAt });
      await expect(died.tls.round(bed.signal)).rejects.toThrow('killed');
      const { tls } = await look();
      const held = await serverPair();
      expect(held).toBeDefined();
      expect(tls.trusted).toBe((await bed.data(certificate))['ca.crt']);
    }
  });

  it('lets one of two leaders write, and both believe what it wrote', async () => {
    const gate = gateFor(2);
    const leaders = [bed.leader({ gate }), bed.leader({ gate })];
    const ended = await Promise.allSettled(leaders.map(async ({ tls }) => tls.round(bed.signal)));
    const refused = ended.filter((one) => one.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { about: ca, isRace: true } }]);
    for (const leader of leaders) await look(leader);
    const [first, second] = leaders.map(({ tls }) => tls.trusted);
    expect(first).toBe(second);
    expect(await authorityIds()).toHaveLength(1);
  });

  it('goes on believing what it knows while the API server refuses', async () => {
    const leader = await look();
    const { trusted } = leader.tls;
    await bed.delete(ca);
    bed.api.faults.answer({ verb: 'patch', resource: 'secrets', status: 403, reason: 'Forbidden' });
    await expect(look(leader)).rejects.toMatchObject({ name: 'SecretTrouble', about: ca });
    expect(leader.tls.trusted).toBe(trusted);
    bed.api.faults.answer({ verb: 'get', resource: 'secrets', status: 403, reason: 'Forbidden' });
    await expect(look(leader)).rejects.toMatchObject({ about: ca, isRace: false });
    expect(leader.tls.trusted).toBe(trusted);
    await look(leader);
    expect(leader.tls.trusted).toContain(trusted);
    const both = believedBy(leader);
    expect(both).toHaveLength(2);
    await bed.delete(ca, certificate);
    bed.api.faults.answer({ verb: 'patch', resource: 'secrets', status: 403, reason: 'Forbidden' });
    await expect(look(leader)).rejects.toMatchObject({ about: ca });
    expect(believedBy(leader)).toEqual(both);
  });

  it('goes on believing what Viola shows when authority and certificate are deleted at once', async () => {
    const leader = await look();
    const [shown] = await authorityIds();
    await bed.delete(ca, certificate);
    await look(leader);
    expect(believedBy(leader)).toContain(shown);
    expect((await bed.data(certificate))['ca.crt']).toBe(leader.tls.trusted);
    await look(leader);
    expect(await authorityIds()).toHaveLength(2);
  });

  it('has forgotten what it believed when it leads again: it may have been withdrawn meanwhile', async () => {
    const leader = await look();
    const [withdrawn] = await authorityIds();
    await bed.delete(ca, certificate);
    await look();
    leader.tls.lead();
    expect(believedBy(leader)).toEqual([withdrawn]);
    await look(leader);
    const held = await authorityIds();
    expect(held).not.toContain(withdrawn);
    expect(believedBy(leader)).toEqual(held);
  });

  it('says so when something changes what it writes, instead of writing for ever', async () => {
    const leader = bed.leader({
      changes: (secret) => ({ ...secret, data: { 'tls.crt': 'aGVsbG8=' } }),
    });
    await expect(look(leader)).rejects.toThrow(
      'something, such as an admission webhook, changes it',
    );
    expect(leader.effects).toHaveLength(8);
    expect(leader.tls.trusted).toBeUndefined();
  });

  it('logs no key', async () => {
    await look();
    expect(bed.lines.join('')).toContain('writing a Secret of the access to Viola');
    expect(bed.lines.join('')).not.toContain('PRIVATE KEY');
  });
});
