import { type Arguments, help, readArguments } from './arguments.ts';
import { startCloud, startContrabass } from './start.ts';

async function start(wanted: Arguments): Promise<AsyncDisposable & { readonly port: number }> {
  const { keystoneUrl } = wanted;
  return wanted.contrabassOnly && keystoneUrl !== undefined
    ? startContrabass({ ...wanted, keystoneUrl })
    : startCloud(wanted);
}

function urlsOf(running: object): Record<string, string> {
  const strings = Object.entries(running).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(strings.filter(([key]) => key !== 'encryptKey'));
}

async function main(): Promise<void> {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === 'help') {
    process.stdout.write(help);
    return;
  }
  await using running = await start(wanted);
  process.stdout.write(`${JSON.stringify({ ready: true, ...urlsOf(running) })}\n`);
  await new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'EADDRINUSE') {
    return 'the port is taken by another process: choose another with --port, or leave it out';
  }
  return error.message;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`cloud: ${sentence(error)}\n`);
  process.exitCode = 2;
}
