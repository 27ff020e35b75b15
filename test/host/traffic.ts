import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { run, ip as runIp } from '../../rig/hosts/namespace/command.ts';
import type { NamespaceHost } from '../../rig/hosts/namespace/host.ts';
import { scaled } from '../speed.ts';

const port = 7_007;

const echo = `require('node:net').createServer((socket) => socket.on('error', () => {}).pipe(socket))
  .listen(${port}, '0.0.0.0', () => console.log('ready'))`;

const call = `const [to, from] = process.argv.slice(1);
const socket = require('node:net').connect({ host: to, port: ${port}, ...(from ? { localAddress: from } : {}) });
socket.setTimeout(${scaled(10_000)}, () => socket.destroy(new Error('no answer in time')));
socket.on('error', (error) => { console.log(error.message); process.exitCode = 1; });
socket.on('data', (data) => { console.log(String(data)); socket.end(); });
socket.write('hello');`;

/** Sends a word from the host to an address behind its NICs; returns the echo `hello`, or the error. */
export async function answerOf(host: NamespaceHost, to: string, from = ''): Promise<string> {
  const inFabric = [`--net=/run/netns/${host.fabric}`, '--', process.execPath, '-e', echo];
  const server = spawn('nsenter', inFabric, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await Promise.race([once(server.stdout, 'data'), ended(server)]);
    const { stdout } = await host.exec(process.execPath, '-e', call, to, from);
    return stdout.trim();
  } finally {
    server.kill('SIGKILL');
  }
}

async function ended(server: ReturnType<typeof spawn>): Promise<never> {
  const [code] = (await once(server, 'exit')) as [number | null];
  throw new Error(`the echo server ended with ${code}`);
}

/** Returns the MAC the fabric learns for the address, from the first answer. */
export async function answererOf(
  { fabric }: NamespaceHost,
  ip: string,
): Promise<string | undefined> {
  await runIp(['-n', fabric, 'neigh', 'flush', 'to', ip]);
  const ask = `echo >/dev/udp/${ip}/9`;
  await run('nsenter', [`--net=/run/netns/${fabric}`, '--', 'bash', '-c', ask]);
  const neighbour = async () => {
    const shown = await runIp(['-n', fabric, '-j', 'neigh', 'show', 'to', ip]);
    return (JSON.parse(shown) as { lladdr?: string }[])[0]?.lladdr;
  };
  await expect.poll(neighbour).toBeDefined();
  return neighbour();
}
