import * as z from 'zod';
import type { ControlPlane } from '../../../../rig/control-plane/control-plane.ts';
import { openPortForward } from '../../../../rig/control-plane/port-forward.ts';

/** HTTP server inside a Pod that inspects the Pod on request; `/` returns the Pod's name. */
export const program = `
import { lookup } from 'node:dns/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, get as plainGet } from 'node:http';
import { get as secureGet } from 'node:https';
const identity = '/var/run/secrets/kubernetes.io/serviceaccount';
// A new connection per request, because the Service picks a Pod per connection; the timeout is shorter than the kernel's.
function fetched(url, ca) {
  const token = () => readFileSync(identity + '/token', 'utf8');
  const common = { agent: false, signal: AbortSignal.timeout(10_000) };
  const options = ca
    ? { ...common, ca: Buffer.from(ca, 'base64') }
    : { ...common, ca: readFileSync(identity + '/ca.crt'), headers: { authorization: 'Bearer ' + token() } };
  return new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? secureGet : plainGet;
    get(url, options, async (answer) => {
      let body = '';
      for await (const piece of answer) body += piece;
      resolve({ status: answer.statusCode, body });
    }).on('error', reject);
  });
}
const acts = {
  '/': async () => ({ pod: process.env.HOSTNAME }),
  '/lookup': async (query) => ({ address: (await lookup(query.get('name'))).address }),
  '/fetch': async (query) => fetched(query.get('url'), query.get('ca')),
};
if (process.env.KEEP) writeFileSync(process.env.KEEP, 'kept');
createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://probe');
  let answer;
  try { answer = await acts[pathname](searchParams); }
  catch (error) { answer = { error: error.code ?? error.message }; }
  response.end(JSON.stringify(answer));
}).listen(8080, () => console.log('looking around'));
process.on('SIGTERM', () => process.exit(0));
`;

/** Answer at `/`. */
export const self = z.object({ pod: z.string() });
const address = z.union([z.object({ address: z.string() }), z.object({ error: z.string() })]);
const fetched = z.union([
  z.object({ status: z.number(), body: z.string() }),
  z.object({ error: z.string() }),
]);

/** View from inside a Pod. */
export interface Probe extends AsyncDisposable {
  whoami(): Promise<z.infer<typeof self>>;
  lookup(name: string): Promise<z.infer<typeof address>>;
  /** GET as the Pod's ServiceAccount; with a CA (base64) anonymously, from a server with a certificate of this CA. */
  fetch(url: string, ca?: string): Promise<z.infer<typeof fetched>>;
}

/** Speaks to the program through `kubectl port-forward`. */
export async function openProbe(
  plane: ControlPlane,
  namespace: string,
  pod: string,
): Promise<Probe> {
  const forward = await openPortForward(plane, namespace, pod, 8080);
  const ask = async (path: string, query: Record<string, string> = {}): Promise<unknown> => {
    const answer = await fetch(
      `http://127.0.0.1:${forward.port}${path}?${new URLSearchParams(query).toString()}`,
    );
    return answer.json();
  };
  return {
    whoami: async () => self.parse(await ask('/')),
    lookup: async (name) => address.parse(await ask('/lookup', { name })),
    fetch: async (url, ca) =>
      fetched.parse(await ask('/fetch', { url, ...(ca !== undefined && { ca }) })),
    [Symbol.asyncDispose]: () => forward[Symbol.asyncDispose](),
  };
}
