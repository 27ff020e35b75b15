import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Agent, fetch } from 'undici';
import type { KubeObject } from '../../src/kube/object.ts';
import { pathOf } from './node-config.ts';

/**
 * Stands for `kubectl apply -f -` of MultiNicNodeConfigs where no kubectl is installed. One object that is refused does not
 * keep the objects after it from being applied, and the exit status is 1.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    kubeconfig: { type: 'string' },
    server: { type: 'string', default: '' },
    'certificate-authority': { type: 'string', default: '' },
    token: { type: 'string', default: '' },
    namespace: { type: 'string', default: 'default' },
    f: { type: 'string', short: 'f' },
  },
});
const { server, token, namespace } = values;
const dispatcher = new Agent({
  connect: { ca: await readFile(values['certificate-authority'], 'utf8') },
});

async function send(method: 'PATCH' | 'POST', path: string, object: object) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const query = 'fieldManager=kubectl-client-side-apply';
  const answer = await fetch(`${server}${path}?${query}`, {
    method,
    dispatcher,
    headers: { 'content-type': type, authorization: `Bearer ${token}` },
    body: JSON.stringify(object),
  });
  return { status: answer.status, detail: await answer.text() };
}

async function apply(object: KubeObject): Promise<void> {
  const { name } = object.metadata;
  const path = pathOf(namespace, name);
  const patched = await send('PATCH', path, object);
  const collection = path.slice(0, path.lastIndexOf('/'));
  const { status, detail } =
    patched.status === 404 ? await send('POST', collection, object) : patched;
  if (status < 300) {
    console.log(`multinicnodeconfig.multinic.io/${name} configured`);
    return;
  }
  console.error(`Error from server: error when applying "${name}": ${detail}`);
  process.exitCode = 1;
}

try {
  const documents = (await text(process.stdin)).split('\n---\n');
  for (const document of documents) await apply(JSON.parse(document) as KubeObject);
} catch (error) {
  console.error(`Unable to connect to the server: ${String(error)}`);
  process.exitCode = 1;
}
await dispatcher.close();
