import { describe, expect, test } from 'vitest';
import { answerOf } from '../requests/fake-caller.ts';
import { createNova } from './nova.ts';
import { createFakeService } from './requests/fake-service.ts';

const signal = new AbortController().signal;

function wireServer(id: string) {
  return {
    id,
    name: `name-${id}`,
    status: 'ACTIVE',
    metadata: { role: 'worker' },
    tenant_id: 'P1',
  };
}

describe('list', () => {
  test('list follows page links, with a longer timeout than for one server', async () => {
    const next = 'http://inside/v2.1/servers/detail?limit=2&marker=b';
    const { client, caller } = createFakeService('nova', (_, index) =>
      index === 0
        ? answerOf(200, {
            servers: [wireServer('a'), wireServer('b')],
            servers_links: [{ rel: 'next', href: next }],
          })
        : answerOf(200, { servers: [wireServer('c')] }),
    );
    const servers = await createNova(client, { timeoutMs: 1_000, pageSize: 2 }).list(signal);
    expect([...servers.keys()]).toEqual(['a', 'b', 'c']);
    expect(servers.get('a')).toEqual({
      id: 'a',
      name: 'name-a',
      status: 'ACTIVE',
      metadata: { role: 'worker' },
      projectId: 'P1',
    });
    expect(caller.sent.map((call) => call.url.search)).toEqual(['?limit=2', '?limit=2&marker=b']);
    expect(caller.sent[0]?.timeoutMs).toBe(3_000);
  });

  test('list restarts when Nova answers 400 because the marker was deleted', async () => {
    const links = [{ rel: 'next', href: '?marker=a' }];
    const script = [
      answerOf(200, { servers: [wireServer('a')], servers_links: links }),
      answerOf(400, { badRequest: { code: 400, message: 'marker [a] not found' } }),
      answerOf(200, { servers: [wireServer('b')] }),
    ];
    const { client } = createFakeService('nova', (_, index) => script[index] ?? answerOf(500, {}));
    const servers = await createNova(client, { timeoutMs: 1_000 }).list(signal);
    expect([...servers.keys()]).toEqual(['b']);
  });
});

test('list stops at the page that completes the wanted servers, full or not', async () => {
  const links = [{ rel: 'next', href: '?marker=b' }];
  const { client, caller } = createFakeService('nova', () =>
    answerOf(200, { servers: [wireServer('a'), wireServer('b')], servers_links: links }),
  );
  const servers = await createNova(client, { timeoutMs: 1_000 }).list(signal, ['b']);
  expect([...servers.keys()]).toEqual(['a', 'b']);
  expect(caller.sent).toHaveLength(1);
});

test('list continues while a wanted server is missing', async () => {
  const links = [{ rel: 'next', href: '?marker=b' }];
  const { client, caller } = createFakeService('nova', (_, index) =>
    index === 0
      ? answerOf(200, { servers: [wireServer('a'), wireServer('b')], servers_links: links })
      : answerOf(200, { servers: [wireServer('c')] }),
  );
  const servers = await createNova(client, { timeoutMs: 1_000 }).list(signal, ['b', 'c']);
  expect([...servers.keys()]).toEqual(['a', 'b', 'c']);
  expect(caller.sent).toHaveLength(2);
});

async function listedByTags(...pages: readonly unknown[]): Promise<string[]> {
  const { client } = createFakeService('nova', (_, index) => answerOf(200, pages[index]));
  const servers = await createNova(client, { timeoutMs: 1_000 }).tagged(['nic', 'x'], signal);
  return [...servers.keys()];
}

describe('list by tags', () => {
  const tagged = (id: string, ...tags: string[]) => ({ ...wireServer(id), tags });
  const secondPage = [{ rel: 'next', href: '?marker=a' }];

  test.each([
    ['every server of a /v2 endpoint', [{ servers: [wireServer('a'), wireServer('b')] }]],
    [
      'a second page without the microversion header',
      [
        { servers: [tagged('a', 'nic', 'x')], servers_links: secondPage },
        { servers: [wireServer('b')] },
      ],
    ],
  ])('tagged refuses %s, because its servers lack tags', async (_, pages) => {
    await expect(listedByTags(...pages)).rejects.toMatchObject({
      kind: 'badAnswer',
      message: expect.stringMatching(
        /^nova: .* ignores microversion 2\.26, .* \/v2\.1 endpoint/,
      ) as unknown,
    });
  });

  test('tagged drops servers without the tags when a gateway drops the filter', async () => {
    const servers = [tagged('a', 'x', 'nic', 'y'), tagged('b', 'nic'), tagged('c')];
    expect(await listedByTags({ servers })).toEqual(['a']);
    expect(await listedByTags({ servers: [] })).toEqual([]);
  });
});

test('changedSince sends the time as changes-since', async () => {
  const { client, caller } = createFakeService('nova', () => answerOf(200, { servers: [] }));
  const nova = createNova(client, { timeoutMs: 1_000 });
  await nova.changedSince(new Date('2026-01-02T03:04:05Z'), signal);
  expect(caller.sent[0]?.url.searchParams.get('changes-since')).toBe('2026-01-02T03:04:05.000Z');
});

async function recordOf(addresses: unknown) {
  const { client } = createFakeService('nova', () =>
    answerOf(200, { server: { ...wireServer('A'), addresses } }),
  );
  return createNova(client, { timeoutMs: 1_000 }).server('A', signal);
}

describe('server record', () => {
  test('a server record contains each MAC once per network, in lower case', async () => {
    const [first, second] = ['fa:16:3e:00:00:01', 'fa:16:3e:00:00:02'];
    const nic = { addr: '10.0.0.1', 'OS-EXT-IPS-MAC:mac_addr': 'FA:16:3E:00:00:01' };
    const other = { ...nic, 'OS-EXT-IPS-MAC:mac_addr': second };
    expect(
      await recordOf({ lan: [nic, { ...nic, addr: '10.0.0.2' }], san: [other, nic] }),
    ).toMatchObject({
      kind: 'found',
      value: { id: 'a', macAddresses: [first, second, first] },
    });
  });

  test('a server record without addresses has unknown MACs; with empty addresses it has no MACs', async () => {
    expect(await recordOf(undefined)).toMatchObject({ value: { macAddresses: undefined } });
    expect(await recordOf({})).toMatchObject({ value: { macAddresses: [] } });
  });

  test('an address without a MAC is an error, because removals could rely on the record', async () => {
    await expect(recordOf({ lan: [{ addr: '10.0.0.1' }] })).rejects.toMatchObject({
      kind: 'badAnswer',
    });
  });
});
