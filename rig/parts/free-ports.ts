import { createServer, type Server } from 'node:net';

/** So many different loopback ports that nobody holds at the moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map(closed));
  return ports;
}

async function listening(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}
