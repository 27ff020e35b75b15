import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startControl } from './control.ts';
import { startFaultProxy } from './fault-proxy.ts';

const help = `A proxy before one server that fails as it is told to.

  node rig/fault-proxy/main.ts --target URL [options]

  --target URL          https://host:port, http://host:port or tcp://host:port
  --host ADDRESS        address to listen on (default: 127.0.0.1)
  --port N              port to listen on (default: any free one)
  --control-port N      port for commands on loopback (default: any free one)
  --target-ca FILE      authority of an https target (PEM)
  --target-cert FILE    client certificate to show to the target (PEM), with --target-key
  --target-key FILE
  --cert FILE           certificate to serve (PEM), with --key (default: made for 127.0.0.1)
  --key FILE
  --plain               serves HTTP before an https target
  --rewrite FROM=TO     text to exchange in every answer, may be repeated
  --help                this text

Prints one JSON line with its URL and that of its commands when it is ready; serves until SIGTERM or Ctrl-C.
`;

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      target: text,
      host: text,
      port: text,
      'control-port': text,
      'target-ca': text,
      'target-cert': text,
      'target-key': text,
      cert: text,
      key: text,
      plain: { type: 'boolean' },
      rewrite: { ...text, multiple: true },
      help: { type: 'boolean' },
    },
  });
  if (values.help || values.target === undefined) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const proxy = await startFaultProxy({
    target: values.target,
    ...(values.host === undefined ? {} : { host: values.host }),
    port: Number(values.port ?? 0),
    identity: {
      ca: contents(values['target-ca']),
      cert: contents(values['target-cert']),
      key: contents(values['target-key']),
    },
    ...shown(values),
    rewrite: Object.fromEntries((values.rewrite ?? []).map(pair)),
  });
  const control = await startControl(proxy, Number(values['control-port'] ?? 0));
  console.log(JSON.stringify({ ready: true, url: proxy.url, control: control.url, ca: proxy.ca }));
  const stop = (): void => {
    void control[Symbol.asyncDispose]().then(() => proxy.close());
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

function shown({ cert, key, plain }: Readonly<{ cert?: string; key?: string; plain?: boolean }>) {
  if (plain) return { certificate: false } as const;
  const [certificate, privateKey] = [contents(cert), contents(key)];
  return certificate === undefined || privateKey === undefined
    ? {}
    : { certificate: { certificate, privateKey } };
}

function contents(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

await main();
