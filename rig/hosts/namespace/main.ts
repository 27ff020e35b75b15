import { parseArgs } from 'node:util';
import { existingHost, hostNames, hostOf } from './host.ts';

const usage = `Hosts for the agent made of network namespaces: a primary NIC eth0, NICs to plug, files of their own.

  host up NAME [NIC=MAC ...]    bring one up; prints its network namespace and the directory of its files
  host plug NAME NIC MAC        plug a NIC
  host unplug NAME MAC          unplug the NIC with this MAC, whatever its name is
  host down [NAME]              remove one, or all
  host status                   one line per host

Needs root and iproute2; nothing else on the machine changes.
`;

async function main(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  });
  const [verb = 'help', name, ...rest] = positionals;
  const act = values.help ? undefined : verbs[verb];
  if (!act) {
    console.log(usage);
    return values.help || verb === 'help' ? 0 : 2;
  }
  if (process.getuid?.() !== 0) {
    console.error('Making network namespaces needs root: run it with sudo.');
    return 3;
  }
  return act(name, rest);
}

const verbs: Readonly<
  Record<string, (name: string | undefined, rest: readonly string[]) => Promise<number>>
> = { up, plug, unplug, down, status };

async function up(name: string | undefined, rest: readonly string[]): Promise<number> {
  if (!name) return missing();
  const host = await hostOf(name, {});
  for (const [nic = '', mac = ''] of rest.map((text) => text.split('=', 2))) {
    await host.plug(nic, mac);
  }
  console.log(`${host.netns} ${host.root}`);
  return 0;
}

async function plug(name: string | undefined, [nic, mac]: readonly string[]): Promise<number> {
  if (!name || !nic || !mac) return missing();
  await existingHost(name).plug(nic, mac);
  return 0;
}

async function unplug(name: string | undefined, [mac]: readonly string[]): Promise<number> {
  if (!name || !mac) return missing();
  await existingHost(name).unplug(mac);
  return 0;
}

async function down(name: string | undefined): Promise<number> {
  for (const each of name ? [name] : await hostNames()) await existingHost(each).down();
  return 0;
}

async function status(): Promise<number> {
  for (const name of await hostNames()) {
    const host = existingHost(name);
    console.log(`${name}  netns ${host.netns}  files ${host.root}`);
  }
  return 0;
}

function missing(): number {
  console.error(usage);
  return 2;
}

process.exitCode = await main(process.argv.slice(2));
