// Runs inside the network namespace of a host: for each line with packets as JSON, looks up and judges the paths, sends the
// packets, and prints the findings as a JSON line.
import { createSocket } from 'node:dgram';
import { createInterface } from 'node:readline';
import { IpSession } from '../../src/agent/ip/session.ts';
import { observeLinks, siteAt } from '../../src/agent/observe/host.ts';
import { pathReader } from '../../src/agent/path/ip.ts';
import type { PathNic } from '../../src/agent/path/lookups.ts';
import { Prefixes } from '../../src/agent/path/prefixes.ts';
import { decidingRule } from '../../src/agent/path/rules.ts';
import { verdictsOn } from '../../src/agent/path/verdict.ts';
import type { RequestInterface } from '../../src/api/job.ts';

/** UDP packet to send; without `from` the kernel selects the source. */
export interface Packet {
  readonly to: string;
  readonly from?: string;
  /** Payload in bytes. */
  readonly size: number;
}

/** Findings about a packet before it is sent. */
export interface Finding {
  /** Link in the kernel's answer; undefined: none. */
  readonly link?: string;
  /** Links by the deciding rule in the snapshot; undefined: none. */
  readonly predicted?: readonly string[];
  readonly isPartial: boolean;
  readonly verdict?: { readonly reason: string; readonly code: string; readonly args: string };
}

const [mac = '', root = ''] = process.argv.slice(2);
const reader = pathReader();
using ip = new IpSession();
const entry: RequestInterface = {
  index: 0,
  mac,
  addresses: ['10.0.5.10/24'],
  gateway: '10.0.5.254',
  routes: [],
  routing: 'pbr',
};

async function findings(packets: readonly Packet[]): Promise<Finding[]> {
  const host = await observeLinks(siteAt(root, ip), new Set([mac]));
  const link = host.links.find((each) => each.mac === mac);
  if (!link) throw new Error(`no link has ${mac}`);
  const { noArp: _, ...answering } = link;
  const nic: PathNic = { entry, link: answering, table: 100 };
  const found = await reader.lookUp(packets);
  const list = (await reader.rules(4)) ?? [];
  const rules = new Map([[4 as const, list]]);
  const routes = new Prefixes(host.routes);
  const verdictOn = ({ to, from }: Packet, at: number) => {
    const one = found && { answers: [found.answers[at]], silent: [] };
    const fromNics = from === undefined ? [] : [{ to, from, nic }];
    const fromNode = from === undefined ? [{ to, purpose: 'service' as const }] : [];
    const input = { nics: [nic], host, fromNics, fromNode, found: one, rules, all: {} };
    return verdictsOn(input).failed.get(mac);
  };
  return packets.map((packet, at): Finding => {
    const answer = found?.answers[at];
    const verdict = verdictOn(packet, at);
    const decision = decidingRule(list, packet, routes);
    return {
      ...(answer?.kind === 'link' ? { link: answer.link } : {}),
      ...(decision?.links ? { predicted: decision.links } : {}),
      isPartial: decision?.rule.isPartial === true,
      ...(verdict ? { verdict } : {}),
    };
  });
}

async function send({ to, from, size }: Packet): Promise<void> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) =>
    socket.bind({ port: 0, ...(from ? { address: from } : {}) }, resolve),
  );
  // The kernel refuses a packet without a path.
  await new Promise<void>((resolve) => socket.send(Buffer.alloc(size), 9, to, () => resolve()));
  socket.close();
}

for await (const line of createInterface({ input: process.stdin })) {
  const packets = JSON.parse(line) as Packet[];
  const found = await findings(packets);
  for (const packet of packets) await send(packet);
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
