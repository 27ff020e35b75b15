import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/time/clock.ts';
import { Supervisor } from '../parts/supervisor.ts';
import { commandsOf } from './commands.ts';
import { narrate } from './narrator.ts';
import { choosePorts, type Ports } from './ports.ts';
import { createScreen } from './screen.ts';
import { stopOnSignals } from './stop.ts';
import { runStory } from './story.ts';
import { startWatchdog } from './watchdog/watchdog.ts';
import { printPlan } from './without-root.ts';
import { openDemoWorld } from './world.ts';

const help = `MultiNIC on this machine: ports are attached and detached in a simulated cloud, and the real operator, Viola,
controller and agent configure real NICs on two hosts made of network namespaces.

  make demo [ARGS='options']

  --once            end by itself after the last step; exit status 0 only when every NIC was as expected
  --port-base N     first of seven loopback ports (default 18080)
  --help            this text

Needs Linux with the command ip, and root for the namespaces; without root it prints the agent's plan and exits with
status 3. Ctrl-C ends the parts one by one and removes everything; a second Ctrl-C ends them at once. A process of its own
removes what is left when the demo or its terminal dies.
Exit status: 0 done, 1 failed, 2 wrong arguments, a taken port or no ip, 3 not root, 128 + N second signal N.
`;

const usageExit = 2;
const rootExit = 3;

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      once: { type: 'boolean', default: false },
      'port-base': { type: 'string', default: '18080' },
      help: { type: 'boolean', default: false },
    },
  });
  const portBase = Number(values['port-base']);
  if (!Number.isInteger(portBase) || portBase < 1024 || portBase > 65_000) {
    throw new Error(
      `--port-base must be a whole number from 1024 to 65000, not "${values['port-base']}"`,
    );
  }
  return { ...values, portBase };
}

const screen = createScreen(systemClock, (text) => process.stdout.write(text));

/** Everything between the first and the last line; the stack takes down whatever was started. */
async function demo(ports: Ports, once: boolean, signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const directory = join(tmpdir(), `multinic-demo-${randomUUID().slice(0, 8)}`);
  await startWatchdog(directory);
  await mkdir(directory, { mode: 0o700 });
  // Folders of hosts and kubelets, too; and the mark by which the watchdog recognizes the processes.
  process.env['TMPDIR'] = directory;
  stack.defer(() => rm(directory, { recursive: true }));
  const supervisor = stack.use(new Supervisor(directory, systemClock));
  const ended = AbortSignal.any([signal, supervisor.failed]);
  const narration = new AbortController();
  stack.defer(() => narration.abort(new Error('the demo ends')));

  screen.title(
    'MultiNIC: real NICs on two hosts of this machine; the cloud and the API servers are simulated',
  );
  const world = await openDemoWorld({
    stack,
    supervisor,
    directory,
    ports,
    screen,
    clock: systemClock,
  });
  narrate({
    ...world,
    screen,
    clock: systemClock,
    signal: AbortSignal.any([ended, narration.signal]),
  });
  await runStory({ world, screen, wait: { clock: systemClock, signal: ended } });
  screen.title('Every NIC is as expected.');
  if (once) return;
  screen.say(`Inventory  http://127.0.0.1:${ports.inventory}/v1/inventory/node-configs`);
  screen.say(`Viola      http://127.0.0.1:${ports.viola}/docs/`);
  screen.say(`Logs       ${directory}`);
  screen.title(
    'The system goes on running. Look around in another terminal, in this folder, as root:',
  );
  for (const command of commandsOf(directory, ports)) screen.say(`  ${command}`);
  screen.say('\nCtrl-C ends the demo and removes everything.');
  await new Promise<void>((resolve) =>
    ended.addEventListener('abort', () => resolve(), { once: true }),
  );
  supervisor.failed.throwIfAborted();
}

function requireIp(): void {
  if (spawnSync('ip', ['-V']).error === undefined) return;
  throw new Error('there is no ip command; install it first (Debian: apt-get install iproute2)');
}

async function main(): Promise<number> {
  const options = readArguments(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(help);
    return 0;
  }
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    printPlan(screen);
    return rootExit;
  }
  requireIp();
  const stop = stopOnSignals();
  const ports = await choosePorts(options.portBase);
  try {
    await demo(ports, options.once, stop);
    return 0;
  } catch (error) {
    if (stop.aborted && !options.once) return 0;
    screen.title(`The demo failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = usageExit;
}
