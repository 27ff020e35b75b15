import { indexOfName, maxIndex } from '../../api/names.ts';
import {
  type Claims,
  type ConfigFile,
  type HostFile,
  nameServersIn,
  type OwnFile,
  type Stanza,
} from '../snapshot.ts';
import { fixedIn, routesIn } from './ifcfg-fixed.ts';
import { namePatterns } from './name-patterns.ts';
import { macInHead } from './nic-head.ts';

export const ifcfgDirectory = '/etc/sysconfig/network-scripts';

/**
 * Suffix for placeholder files while several files of a NIC are replaced: NetworkManager accepts profiles with any
 * name, and reads routes from the file with the same name.
 */
export const interim = '-next';

/** Returns `KEY=value` pairs from a shell variable file, unquoted; for a repeated key the last value. */
function shellVariables(text: string): Map<string, string> {
  const found = [...text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$/gm)];
  return new Map(found.map(([, key = '', value = '']) => [key, unquoted(value.trim())]));
}

/**
 * Returns the first word as a shell reads it, possibly quoted in parts; NetworkManager writes `$'` for unusual
 * characters.
 */
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

/** NetworkManager also accepts hyphens in MACs. */
function macIn(value: string): string {
  return value.toLowerCase().replaceAll('-', ':');
}

/** Parses a network-scripts file: which NICs it configures, and whether it is managed. */
export function readIfcfg(file: HostFile): ConfigFile {
  const name = file.path.slice(ifcfgDirectory.length + 1);
  const own = /^ifcfg-multinic\d+(-next)?$/.test(name)
    ? ownIfcfg(name, file.text)
    : ownRoutes(name, file.text);
  if (own) return { ...file, own, macs: [own.mac] };
  const [, device] = /^ifcfg-(.+)$/.exec(name) ?? [];
  if (device && !passedBy.test(name)) return { ...file, ...claimsOf(file.text, device) };
  const [, ruled] = /^rule6?-(.+)$/.exec(name) ?? [];
  const [, routed] = /^route6?-(.+)$/.exec(name) ?? [];
  if (routed) {
    const fixed = routesIn(file.text, shellVariables(file.text));
    const partOf = `${ifcfgDirectory}/ifcfg-${routed}`;
    return { ...file, macs: [], partOf, stanzas: [{ section: 'routes', id: name, ...fixed }] };
  }
  // A rule file stops NetworkManager from reading the NIC's routes.
  return {
    ...file,
    macs: [],
    ...(ruled ? { names: [ruled], stanzas: [{ section: 'routing rules' }] } : {}),
  };
}

/** Recognises every generation: a single MAC and a managed name. An adopted NIC's file has no `DEVICE`. */
function ownIfcfg(path: string, text: string): OwnFile | undefined {
  const variables = shellVariables(text);
  const mac = macIn(variables.get('HWADDR') ?? '');
  const [, adopted = ''] = /^ifcfg-(multinic\d+)/.exec(path) ?? [];
  const index = indexOfName(variables.get('DEVICE') ?? adopted);
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

/** Names NetworkManager ignores, and the loopback. */
const passedBy = /(^ifcfg-lo|~|\.(bak|orig|rej|rpmnew|augnew|augtmp))$/;

/** Returns the NICs a foreign file configures. Takes only names and MACs, because the file may hold secrets. */
function claimsOf(text: string, device: string): Claims {
  const variables = shellVariables(text);
  return { ...nicsOf(variables, device), stanzas: [stanzaOf(variables, device)] };
}

/** Returns the variables with the NIC's name and addresses. */
function stanzaOf(variables: ReadonlyMap<string, string>, device: string): Stanza {
  const [key, value] =
    ['DEVICE', 'HWADDR', 'NAME'].flatMap((name) => {
      const found = variables.get(name);
      return found ? [[name, found] as const] : [];
    })[0] ?? (['DEVICE', device] as const);
  const valueOf = (name: string) => variables.get(name) ?? '';
  const isLease = /^(dhcp|bootp)$/i.test(valueOf('BOOTPROTO'));
  const six = ['DHCPV6C', 'IPV6_AUTOCONF'].find((name) => isYes(valueOf(name)));
  const fixed = ['IPADDR', 'IPADDR0', 'IPV6ADDR'].find((name) => valueOf(name) !== '');
  const option = (isLease ? 'BOOTPROTO' : undefined) ?? fixed ?? six ?? 'BOOTPROTO';
  const servers = [...variables].filter(([name]) => /^DNS\d+$/.test(name));
  return {
    section: `${key}=${value} (${option})`,
    id: `ifcfg-${device}`,
    dhcp: isLease || six !== undefined,
    ...nameServersIn(servers.map(([, server]) => server)),
    ...fixedIn(variables),
    ...upperIn(variables, device),
    ...(isNo(valueOf('ONBOOT')) ? {} : { priority: Number(valueOf('AUTOCONNECT_PRIORITY')) || 0 }),
    // NetworkManager ignores the NIC, and so our profile.
    ...(isNo(valueOf('NM_CONTROLLED')) ? { off: 'NM_CONTROLLED' } : {}),
  };
}

/** Variables making the NIC a port (initscripts, NetworkManager). */
const portKeys = /^((MASTER|BRIDGE|TEAM_MASTER|OVS_BRIDGE|VRF)(_UUID)?|SLAVE|PHYSDEV)$/;

function upperIn(variables: ReadonlyMap<string, string>, device: string): Pick<Stanza, 'upper'> {
  const isPort = [...variables].some(([key, value]) => portKeys.test(key) && value && !isNo(value));
  const name = variables.get('DEVICE') ?? device;
  const type = variables.get('TYPE') ?? '';
  const isVlan = isYes(variables.get('VLAN') ?? '') || /\.\d+$/.test(name);
  return isPort || isVlan || !/^(|ethernet)$/i.test(type) ? { upper: true } : {};
}

function nicsOf(variables: ReadonlyMap<string, string>, device: string): Claims {
  const valuesOf = (...keys: string[]) => keys.flatMap((key) => variables.get(key) || []);
  const macs = valuesOf('HWADDR', 'MACADDR').map(macIn);
  const named = valuesOf('DEVICE', 'PHYSDEV');
  if (variables.get('HWADDR')) return { macs, names: valuesOf('PHYSDEV').map(lowerOf) };
  if (named.length > 0) return { macs, names: named.map(lowerOf) };
  // Profiles without a device may apply to the file's name.
  return { macs, names: [lowerOf(device)], ...claimsOfMany(variables) };
}

/**
 * Returns claims for a profile without a NIC name: NetworkManager applies it to many NICs, unless activated only on
 * request.
 */
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

/** Parses a boolean like NetworkManager (svParseBoolean). */
function isYes(value: string): boolean {
  return /^(yes|y|true|t|1)$/i.test(value);
}

function isNo(value: string): boolean {
  return /^(no|n|false|f|0)$/i.test(value);
}

/** Returns the NIC below a VLAN or an alias named after the NIC: `ens5.10`, `ens5:1`. */
function lowerOf(name: string): string {
  return name.replace(/[.:]\w+$/, '');
}
