import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { stringify } from 'yaml';
import { openApi } from './api.ts';
import { type Interface, type NodeConfig, pathOf } from './node-config.ts';

/**
 * Stands for the deployed agent on a host of network namespaces: removes what it takes for orphans, then renames, addresses
 * and routes each NIC anew, and writes its netplan file; never applies it.
 */
const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: '' },
    node: { type: 'string', default: '' },
    netns: { type: 'string', default: '' },
    'host-root': { type: 'string', default: '' },
    'termination-log': { type: 'string', default: '' },
  },
});
const netplan = join(values['host-root'], 'etc/netplan');
const run = promisify(execFile);

async function ip(...args: string[]): Promise<string> {
  return (await run('ip', ['-n', values.netns, ...args])).stdout;
}

async function tolerated(...args: string[]): Promise<void> {
  await ip(...args).catch(() => '');
}

type Nic = Required<Omit<Interface, 'id'>> & { readonly index: number };

/** An entry that lacks anything is skipped with a warning. */
function usable(entry: Interface, position: number): Nic[] {
  const { name, macAddress, address, cidr, mtu } = entry;
  const index = name ? Number(name.slice('multinic'.length)) : entry.id || position + 1;
  if (!address || !cidr || !mtu || index > 9) {
    console.log(`skipped: ${macAddress}`);
    return [];
  }
  return [{ name: `multinic${index}`, macAddress, address, cidr, mtu, index }];
}

async function linkWith(mac: string): Promise<string | undefined> {
  const links = JSON.parse(await ip('-j', 'link', 'show')) as {
    ifname: string;
    address?: string;
  }[];
  return links.find(({ address }) => address?.toLowerCase() === mac.toLowerCase())?.ifname;
}

/** The runtime half, command by command; what it says "File exists" to is fine. */
async function configure({ name, macAddress, address, cidr, mtu, index }: Nic): Promise<void> {
  const link = await linkWith(macAddress);
  if (link === undefined) throw new Error(`interface with MAC ${macAddress} not found`);
  const [prefix = '24', table] = [cidr.split('/')[1], String(100 + index)];
  if (link !== name) await ip('link', 'set', link, 'name', name);
  await ip('link', 'set', name, 'mtu', String(mtu));
  await ip('addr', 'replace', `${address}/${prefix}`, 'dev', name, 'noprefixroute');
  await ip('link', 'set', name, 'up');
  await tolerated('route', 'del', cidr, 'dev', name);
  await tolerated('rule', 'del', 'from', `${address}/32`, 'table', table);
  await tolerated('rule', 'add', 'from', `${address}/32`, 'table', table);
  const way = ['dev', name, 'table', table, 'metric', table, 'src', address];
  await ip('route', 'replace', cidr, ...way);
  await writeFile(
    join(netplan, `9${index}-${name}.yaml`),
    fileOf(name, macAddress, address, cidr, mtu, index),
    {
      mode: 0o600,
    },
  );
}

function fileOf(
  name: string,
  macaddress: string,
  address: string,
  cidr: string,
  mtu: number,
  index: number,
): string {
  const own = `${address}/${cidr.split('/')[1]}`;
  const nic = {
    addresses: [own],
    dhcp4: false,
    match: { macaddress },
    mtu,
    routes: [{ metric: 100 + index, table: 100 + index, to: cidr }],
    // The prefix of the subnet, which at run time is /32.
    'routing-policy': [{ from: own, table: 100 + index }],
    'set-name': name,
  };
  return stringify({ network: { ethernets: { [name]: nic }, version: 2 } }, { indent: 4 });
}

/** Files that have the product's name and a MAC that nobody wants; links and addresses stay. */
async function removeOrphans(wanted: ReadonlySet<string>): Promise<void> {
  for (const file of await readdir(netplan)) {
    const index = /^9.*-multinic(\d).*\.yaml$/.exec(file)?.[1];
    const mac = index && macIn(await readFile(join(netplan, file), 'utf8'));
    if (!mac || wanted.has(mac)) continue;
    await rm(join(netplan, file));
    await tolerated('rule', 'del', 'table', String(100 + Number(index)));
    await tolerated('route', 'flush', 'table', String(100 + Number(index)));
  }
}

function macIn(text: string): string | undefined {
  return /macaddress: *"?([0-9a-f:]{17})/i.exec(text)?.[1]?.toLowerCase();
}

async function wantedOnNode(): Promise<readonly Interface[]> {
  if (process.env['AGENT_ACTION'] === 'cleanup') return [];
  const api = await openApi(values.kubeconfig);
  const namespace = process.env['NODE_CR_NAMESPACE'] ?? 'multinic-system';
  const { status, body } = await api.request('GET', pathOf(namespace, values.node));
  if (status !== 200) throw new Error(`reading the node config: ${status}`);
  return (body as NodeConfig).spec.interfaces ?? [];
}

await mkdir(netplan, { recursive: true });
const nics = (await wantedOnNode()).flatMap(usable);
await removeOrphans(new Set(nics.map(({ macAddress }) => macAddress.toLowerCase())));
const failures: unknown[] = [];
const results: unknown[] = [];
for (const nic of nics) {
  const { index: id, macAddress: mac, name } = nic;
  try {
    await configure(nic);
    results.push({ id, mac, name, status: 'Configured' });
  } catch (error) {
    failures.push({ id, mac, name, errorType: 'network', reason: String(error) });
  }
}
if (nics.length > 0) {
  const counts = { processed: nics.length, failed: failures.length, total: nics.length };
  const summary = { node: values.node, ...counts, failures, results };
  await writeFile(values['termination-log'], JSON.stringify(summary));
}
process.exitCode = nics.length > 0 && failures.length === nics.length ? 1 : 0;
