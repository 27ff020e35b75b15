import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BehindFront, openBehindFront } from '../../test/fixtures/behind-front.ts';
import type { Answer, Fault, Front } from './testing/front.ts';
import type { IoClock } from './testing/io-clock.ts';
import type { Scene } from './testing/scene.ts';

let place: BehindFront;
let front: Front;
let clock: IoClock;
let scene: Scene;

beforeEach(async () => {
  place = await openBehindFront();
  ({ front, clock, scene } = place);
});

afterEach(async () => place[Symbol.asyncDispose]());

const attach = (at: number): void => place.attach(at);
const nics = (): string[] => place.nics();
const look = async (): Promise<string> => place.look();

const ports = /GET \/network\/v2\.0\/ports\?/;
const secondPage = /GET \/network\/v2\.0\/ports\?.*marker=/;
const subnet = /GET \/network\/v2\.0\/subnets/;
const servers = /GET \/compute\/.*servers/;
const login = /POST \/identity\/v3\/auth\/tokens/;
const provider = /GET \/contrabass/;

function says(status: number, body: unknown, headers = {}): Fault {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_, response) => void response.writeHead(status, headers).end(text);
}

const page = '<html><body>Welcome to nginx</body></html>';
const html = says(200, page, { 'content-type': 'text/html' });
const html404 = says(404, page, { 'content-type': 'text/html' });
const cut: Fault = ({ status, body, headers }, response) => {
  const { 'content-length': _, ...rest } = headers;
  response.writeHead(status, rest).end(body.subarray(0, body.length / 2));
};
const broken: Fault = ({ status, headers, body }, response) => {
  response.writeHead(status, headers);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};
const endless: Fault = ({ status }, response) => {
  response.writeHead(status);
  pour(response);
};
/** Nothing more comes; whoever waits gives up when his time is over. */
const hangs: Fault = () => void setImmediate(() => clock.skip(60_000));
const slow: Fault = ({ status, body }, response) => {
  response.writeHead(status);
  response.write(body.subarray(0, 1), () => clock.skip(60_000));
};
const sameAgain: Fault = (answer, response, url) => {
  const list = listIn(answer);
  const links = [{ rel: 'next', href: `http://127.0.0.1${url}` }];
  says(200, { ...list, ports_links: links })(answer, response, url);
};
const nothing: Fault = (answer, response, url) => {
  says(200, { ports: [] })(answer, response, url);
};

/** The first port of each answer says this, too. */
function changed(what: object): Fault {
  return (answer, response, url) => {
    const list = listIn(answer) as { readonly ports: readonly object[] };
    const said = list.ports.map((one, n) => (n === 0 ? { ...one, ...what } : one));
    says(200, { ...list, ports: said })(answer, response, url);
  };
}

function listIn({ body }: Answer): Record<string, unknown> {
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

function pour(response: ServerResponse): void {
  while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024, ' ')));
  if (!response.destroyed) response.once('drain', () => pour(response));
}

type Row = readonly [what: string, where: RegExp, fault: Fault, ready: string];

const ofNeutron: readonly Row[] = [
  ['truncated JSON', ports, cut, 'NeutronPortError: neutron: GET /v2.0/ports: the answer is not'],
  ['an answer that is cut off', ports, broken, 'NeutronPortError: neutron: GET http://127'],
  ['HTML with 200', ports, html, 'NeutronPortError: neutron: GET /v2.0/ports: the answer is not'],
  ['JSON of another kind', ports, says(200, []), 'NeutronPortError: neutron: GET /v2.0/ports: not'],
  ['a body without end', ports, endless, 'NeutronPortError: neutron: GET http'],
  ['a byte and then nothing', ports, slow, 'NeutronPortError: neutron: GET http'],
  ['no answer', ports, hangs, 'NeutronPortError: neutron: GET http'],
  [
    'the same page again',
    ports,
    sameAgain,
    'NeutronPortError: neutron: GET /v2.0/ports: the pages',
  ],
  ['500 on page two', secondPage, says(500, {}), 'NeutronPortError: neutron: GET /'],
  ['an empty page two with a next one', secondPage, sameAgain, 'NeutronPortError: neutron: GET /'],
  ['401 on page two, always', secondPage, says(401, {}), 'NeutronPortError: neutron: GET /'],
  ...[403, 404, 409, 413, 414, 429, 500, 502, 503, 504].map(
    (status): Row => [
      `${status}`,
      ports,
      says(status, {}),
      `NeutronPortError: neutron: GET ${status < 429 ? '' : '/network'}/v2.0/ports answered ${status}`,
    ],
  ),
  ['a page of its proxy with 404', ports, html404, 'NeutronPortError: neutron: GET /'],
];

const ofOthers: readonly Row[] = [
  ['no subnet but HTML', subnet, html, 'NeutronSubnetError: neutron: GET /v2.0/subnets'],
  ['403 for subnets', subnet, says(403, {}), 'NeutronSubnetError: neutron: GET /'],
  ['no whole answer for servers', servers, broken, 'NovaServerError: nova: GET http'],
  ['truncated JSON of servers', servers, cut, 'NovaServerError: nova: GET /'],
  ['403 for servers', servers, says(403, {}), 'NovaServerError: nova: GET /'],
  ['413 for servers', servers, says(413, {}), 'NovaServerError: nova: GET /'],
  ['503 for servers', servers, says(503, {}), 'NovaServerError: nova: GET /'],
];

/** Nobody asks these while a token or an answer is good: they are asked anew after an hour. */
const ofLogins: readonly Row[] = [
  ['HTML of Keystone with 201', login, says(201, page), 'KeystoneError: keystone: POST /v3/auth'],
  ['HTML of Keystone with 200', login, html, 'KeystoneError: keystone: POST /'],
  ['truncated JSON of Keystone', login, cut, 'KeystoneError: keystone: POST /v3/auth'],
  ['a body of Keystone without end', login, endless, 'KeystoneError: keystone: POST http'],
  ['a byte of Keystone', login, slow, 'KeystoneError: keystone: POST http'],
  ['no answer of Keystone', login, hangs, 'KeystoneError: keystone: POST http'],
  ['503 of Keystone', login, says(503, {}), 'KeystoneError: keystone: POST /'],
  ['404 of a proxy before Keystone', login, html404, 'KeystoneError: keystone: POST /'],
  ['HTML of Contrabass', provider, html, 'ContrabassError: contrabass: GET /v1/contrabass'],
  ['truncated JSON of Contrabass', provider, cut, 'ContrabassError: contrabass: GET /'],
  ['a body of Contrabass without end', provider, endless, 'ContrabassError: contrabass: GET http'],
  ['no answer of Contrabass', provider, hangs, 'ContrabassError: contrabass: GET http'],
  ['500 of Contrabass', provider, says(500, {}), 'ContrabassError: contrabass: GET /'],
];

/** It is told, nothing is removed however long it lasts, and what came meanwhile is there when it is over. */
async function endure([, where, fault, ready]: Row): Promise<void> {
  attach(0);
  front.spoil(where, fault);
  for (let n = 0; n < 3; n++) expect(await look()).toContain(`False ${ready}`);
  expect(scene.nics('worker-1')[0]).toContain('multinic0=');
  expect(scene.nics('worker-2')).toHaveLength(1);
  front.heal();
  expect(await look()).toMatch(/^True /);
  expect(nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
}

describe('a cloud that answers', () => {
  it.each([...ofNeutron, ...ofOthers])('%s', async (...row) => endure(row));

  it.each(ofLogins)('%s', async (...row) => {
    clock.skip(3_600_000);
    await endure(row);
  });

  it('a list with nothing in it loses no NIC: each port is read by its id', async () => {
    front.spoil(ports, nothing);
    const before = front.asked.length;
    for (let n = 0; n < 3; n++) expect(await look()).toMatch(/^True /);
    expect(nics()).toEqual(['multinic0', 'multinic0']);
    const byId = front.asked.slice(before).filter((one) => /v2\.0\/ports\/[0-9a-f-]+/.test(one));
    expect(byId.length).toBeGreaterThanOrEqual(2);
  });

  it('a port on two pages makes one NIC of it', async () => {
    let first: Answer | undefined;
    front.spoil(ports, (answer, response, url) => {
      const { ports: found = [], ...links } = listIn(answer) as { ports?: unknown[] };
      const before = first && url.includes('marker') ? (listIn(first)['ports'] as unknown[]) : [];
      first ??= answer;
      says(200, { ports: [...before, ...found], ...links })(answer, response, url);
    });
    attach(1);
    expect(await look()).toMatch(/^True /);
    expect(nics()).toEqual(['multinic0', 'multinic0', 'multinic1']);
  });

  it('401 in the middle of a list is logged in again, once', async () => {
    let refused = 0;
    front.spoil(secondPage, (answer, response, url) => {
      refused += 1;
      if (refused === 1) says(401, {})(answer, response, url);
      else response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    const before = logins();
    attach(0);
    expect(await look()).toMatch(/^True /);
    expect(nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
    // And once because somebody asked for the look.
    expect(logins() - before).toBe(2);
  });

  it.each(['direct', 'direct-physical', 'macvtap', 'vdpa'])(
    'a port of the kind %s is a NIC like any other',
    async (kind) => {
      front.spoil(ports, changed({ 'binding:vnic_type': kind, 'binding:vif_type': 'hw_veb' }));
      attach(0);
      expect(await look()).toMatch(/^True /);
      expect(nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
    },
  );

  it('a description of 10 MB is read past; more than is taken at once is told, and NICs stay', async () => {
    front.spoil(ports, changed({ description: 'x'.repeat(10_000_000) }));
    attach(0);
    expect(await look()).toMatch(/^True /);
    expect(nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
    front.spoil(ports, changed({ description: 'x'.repeat(20_000_000) }));
    expect(await look()).toMatch(/^False NeutronPortError/);
    expect(nics()).toEqual(['multinic0', 'multinic1', 'multinic0']);
    front.heal();
    expect(await look()).toMatch(/^True /);
  });

  it('5xx for an hour is asked about once a minute and no more, and is over at once', async () => {
    front.spoil(/./, says(503, {}));
    const before = front.asked.length;
    for (let n = 0; n < 60; n++) expect(await look()).toMatch(/^False /);
    // Each look here is one that somebody asked for.
    expect(front.asked.length - before).toBeLessThanOrEqual(60 * 2);
    expect(nics()).toEqual(['multinic0', 'multinic0']);
    front.heal();
    expect(await look()).toMatch(/^True /);
  });
});

function logins(): number {
  return front.asked.filter((one) => login.test(one)).length;
}
