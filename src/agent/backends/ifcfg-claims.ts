import { indexOfName, maxIndex } from '../../api/names.ts';
import type { Claims, ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import { namePatterns } from './name-patterns.ts';
import { macInHead } from './nic-head.ts';

export const ifcfgDirectory = '/etc/sysconfig/network-scripts';

/**
 * How names of files end that stand in for those of a NIC while several of them are replaced: NetworkManager takes a profile
 * of any name, and its routes from the file of that very name.
 */
export const interim = '-next';

/** `KEY=value` of a file of shell variables, without the quotes; of a key that is there twice the last. */
export function shellVariables(text: string): Map<string, string> {
  const found = [...text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/gm)];
  return new Map(found.map(([, key = '', value = '']) => [key, unquoted(value.trim())]));
}

/** The first word of it as a shell reads it, which may be quoted in parts; NetworkManager writes `$'` of what is unusual. */
function unquoted(value: string): string {
  const parts = value.matchAll(
    /\$'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/gy,
  );
  return [...parts]
    .map(
      ([, ansi, double, ...more]) =>
        ansi?.replaceAll(/\\(.)/g, '$1') ??
        double?.replaceAll(/\\(["\\$`])/g, '$1') ??
        more.join(''),
    )
    .join('');
}

/** NetworkManager takes hyphens, too. */
function macIn(value: string): string {
  return value.toLowerCase().replaceAll('-', ':');
}

/** What a file of network-scripts is about, and whether it is one of ours. */
export function readIfcfg(file: HostFile): ConfigFile {
  const name = file.path.slice(ifcfgDirectory.length + 1);
  const own = /^ifcfg-multinic\d+(-next)?$/.test(name)
    ? ownIfcfg(file.text)
    : ownRoutes(name, file.text);
  if (own) return { ...file, own, macs: [own.mac] };
  const [, device] = /^ifcfg-(.+)$/.exec(name) ?? [];
  if (device && !passedBy.test(name)) return { ...file, ...claimsOf(file.text, device) };
  const [, ruled] = /^rule6?-(.+)$/.exec(name) ?? [];
  // It stops NetworkManager from reading the routes of that NIC.
  return { ...file, macs: [], ...(ruled ? { names: [ruled] } : {}) };
}

/** Of every generation: one MAC, one name of ours. */
function ownIfcfg(text: string): OwnFile | undefined {
  const variables = shellVariables(text);
  const mac = macIn(variables.get('HWADDR') ?? '');
  const index = indexOfName(variables.get('DEVICE') ?? '');
  if (!mac || index === undefined || index > maxIndex) return undefined;
  return { mac, index, addresses: addressesIn(variables) };
}

function addressesIn(variables: ReadonlyMap<string, string>): string[] {
  const addresses = [...variables].flatMap(([key, ip]) => {
    const [, at] = /^IPADDR(\d*)$/.exec(key) ?? [];
    return at === undefined ? [] : [`${ip}/${variables.get(`PREFIX${at}`) ?? '32'}`];
  });
  const ipv6 = [variables.get('IPV6ADDR'), variables.get('IPV6ADDR_SECONDARIES')];
  return [...addresses, ...ipv6.flatMap((list) => list?.split(/[\s,]+/) ?? [])].filter(Boolean);
}

function ownRoutes(name: string, text: string): OwnFile | undefined {
  const [, index] = /^route6?-multinic(\d)(?:-next)?$/.exec(name) ?? [];
  const mac = macInHead(text);
  if (index === undefined || mac === undefined) return undefined;
  return { mac, index: Number(index), addresses: [] };
}

/** Names that NetworkManager passes by, and the loopback. */
const passedBy = /(^ifcfg-lo|~|\.(bak|orig|rej|rpmnew|augnew|augtmp))$/;

/** Whose NICs a file of somebody else configures. Nothing but names and MACs is taken: it may hold secrets. */
function claimsOf(text: string, device: string): Claims {
  const variables = shellVariables(text);
  const valuesOf = (...keys: string[]) => keys.flatMap((key) => variables.get(key) || []);
  const macs = valuesOf('HWADDR', 'MACADDR').map(macIn);
  const named = valuesOf('DEVICE', 'PHYSDEV');
  if (variables.get('HWADDR')) return { macs, names: valuesOf('PHYSDEV').map(lowerOf) };
  if (named.length > 0) return { macs, names: named.map(lowerOf) };
  // Others may go by the name of the file.
  return { macs, names: [lowerOf(device)], ...claimsOfMany(variables) };
}

/** Of a profile that names no NIC: it is for many that NetworkManager sees, unless it waits for somebody to ask for it. */
function claimsOfMany(variables: ReadonlyMap<string, string>): Partial<Claims> {
  const valueOf = (key: string) => variables.get(key) ?? '';
  const matched = valueOf('MATCH_INTERFACE_NAME');
  const isForMany = matched !== '' || /^ethernet$/i.test(valueOf('TYPE'));
  if (!isForMany || isNo(valueOf('ONBOOT'))) return {};
  const { patterns, except } = namePatterns(matched.split(/\s+/));
  const macs = valueOf('HWADDR_BLACKLIST').split(/\s+/).filter(Boolean).map(macIn);
  const claims = { ...(matched === '' ? {} : { names: [] }), except: [...except, ...macs] };
  const isLease = /^(dhcp|bootp)$/i.test(valueOf('BOOTPROTO'));
  return isLease ? { ...claims, leases: patterns } : { ...claims, patterns };
}

/** As NetworkManager reads it (svParseBoolean). */
function isNo(value: string): boolean {
  return /^(no|n|false|f|0)$/i.test(value);
}

/** The NIC below a VLAN or an alias that is named after it: `ens5.10`, `ens5:1`. */
function lowerOf(name: string): string {
  return name.replace(/[.:]\w+$/, '');
}
