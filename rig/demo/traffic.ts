import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamespaceHost } from '../hosts/namespace/host.ts';

const port = 7_007;
const everyMs = 50;
/** Time for the answer to the last packet. */
const lastAnswerMs = 500;

const echo = `const socket = require('node:dgram').createSocket('udp4');
socket.on('message', (data, { port, address }) => socket.send(data, port, address));
socket.bind(${port}, () => console.log('ready'));`;

const sender = `const [from, to] = process.argv.slice(1);
let [sent, answered] = [0, 0];
const socket = require('node:dgram').createSocket('udp4');
socket.on('message', () => { answered += 1; });
socket.on('error', (error) => { console.error(error.message); process.exit(1); });
const say = () => console.log(JSON.stringify({ sent, answered }));
socket.bind({ address: from }, () => {
  const timer = setInterval(() => { sent += 1; socket.send('packet', ${port}, to, () => {}); }, ${everyMs});
  process.on('SIGTERM', () => {
    clearInterval(timer);
    setTimeout(() => { say(); process.exit(0); }, ${lastAnswerMs});
  });
  console.log('ready');
});`;

/** Packets of a NIC and their answers since the traffic began. */
interface Packets {
  readonly sent: number;
  readonly answered: number;
}

export interface Traffic extends AsyncDisposable {
  /** Stops the sender; resolves to its counts. */
  stop(): Promise<Packets>;
}

/** Sends a UDP packet every 50 ms from an address of the host to one behind its NICs, which answers each. */
export async function startTraffic(
  host: NamespaceHost,
  from: string,
  to: string,
): Promise<Traffic> {
  await using started = new AsyncDisposableStack();
  const inNamespace = async (netns: string, script: string, ...args: readonly string[]) => {
    const child = spawn(
      'nsenter',
      [`--net=/run/netns/${netns}`, '--', process.execPath, '-e', script, ...args],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    started.defer(() => ended(child, 'SIGKILL'));
    await Promise.race([once(child.stdout, 'data'), failure(child)]);
    return child;
  };
  await inNamespace(host.fabric, echo);
  const sending = await inNamespace(host.netns, sender, from, to);
  const stack = started.move();
  return {
    async stop() {
      const lines = createInterface(sending.stdout);
      const line = once(lines, 'line') as Promise<[string]>;
      sending.kill('SIGTERM');
      const [text] = await Promise.race([line, sleep(10 * lastAnswerMs, ['{}'] as [string])]);
      return { sent: 0, answered: 0, ...(JSON.parse(text) as Partial<Packets>) };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Child = ChildProcessByStdio<null, Readable, null>;

async function ended(child: Child, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

async function failure(child: Child): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`a process of the demo's traffic ended with ${code}`);
}
