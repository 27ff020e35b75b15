import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/time/clock.ts';
import { logIn } from '../openstack/openstack-http.ts';
import { type Hypervisor, type Machine, type PausedCall, startHypervisor } from './hypervisor.ts';
import { machineOf } from './machines.ts';

const help = `Stand-in hypervisor: plugs into machines what Nova has attached to their servers, and unplugs it.

  node rig/hypervisor/main.ts --keystone URL --user NAME --project ID --machine SERVER=MACHINE ...

  --keystone URL           Keystone of the cloud
  --user NAME              who reads os-interface; the password is read from $OS_PASSWORD
  --domain NAME            the user's domain (default Default)
  --project ID             the servers' project
  --machine SERVER=MACHINE a server and its machine: host:NAME (rig/hosts/namespace) or
                           node:CONTROL-PLANE/NODE (rig/control-plane/node); repeat for more
  --plug-delay MS          how long an attached NIC lets the machine wait (default 0)
  --unplug-delay MS        how long a detached NIC stays in the machine (default 0)
  --help                   this text

Prints a JSON line when it is ready and one for each NIC. On its standard input it takes the lines
"hold plug", "release plug", "hold unplug", "release unplug". Ends on SIGTERM or Ctrl-C.
Exit codes: 0 stopped, 2 wrong arguments or no login.
`;

function readArguments(argv: readonly string[]) {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      keystone: { type: 'string' },
      user: { type: 'string' },
      domain: { type: 'string', default: 'Default' },
      project: { type: 'string' },
      machine: { type: 'string', multiple: true, default: [] },
      'plug-delay': { type: 'string', default: '0' },
      'unplug-delay': { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

function required(name: string, value: string | undefined): string {
  if (value !== undefined && value !== '') return value;
  throw new Error(`${name} is missing; see --help`);
}

function milliseconds(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name} must be a number of milliseconds, not "${text}"`);
}

function machinesOf(pairs: readonly string[]): Map<string, Machine> {
  if (pairs.length === 0) throw new Error('--machine is missing; see --help');
  return new Map(
    pairs.map((pair) => {
      const [, server, machine] = /^([^=\s]+)=(\S+)$/.exec(pair) ?? [];
      if (server === undefined || machine === undefined)
        throw new Error(`--machine must be SERVER=MACHINE, not "${pair}"`);
      return [server, machineOf(machine)];
    }),
  );
}

function obey(hypervisor: Hypervisor, line: string): void {
  const [, order, what] = /^(hold|release) (plug|unplug)$/.exec(line.trim()) ?? [];
  if (order === undefined) {
    process.stderr.write(`hypervisor: "${line}" is no order\n`);
    return;
  }
  if (order === 'hold') hypervisor.hold(what as PausedCall);
  else hypervisor.release(what as PausedCall);
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function main(): Promise<void> {
  const values = readArguments(process.argv.slice(2));
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const machines = machinesOf(values.machine);
  const user = await logIn({
    keystoneUrl: required('--keystone', values.keystone),
    username: required('--user', values.user),
    password: required('$OS_PASSWORD', process.env['OS_PASSWORD']),
    domainName: values.domain,
    project: { id: required('--project', values.project) },
  });
  await using hypervisor = startHypervisor({
    user,
    machines,
    clock: systemClock,
    delayMs: {
      plug: milliseconds('--plug-delay', values['plug-delay']),
      unplug: milliseconds('--unplug-delay', values['unplug-delay']),
    },
    onChange: print,
    onError: (error) => process.stderr.write(`hypervisor: ${sentence(error)}\n`),
  });
  const orders = createInterface({ input: process.stdin });
  orders.on('line', (line) => obey(hypervisor, line));
  await hypervisor.watching;
  print({ ready: true, servers: [...machines.keys()] });
  await new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  orders.close();
  process.stdin.destroy();
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`hypervisor: ${sentence(error)}\n`);
  process.exitCode = 2;
}
