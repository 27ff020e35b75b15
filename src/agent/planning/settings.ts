import { type SettingKey, type Settings, settingKeys } from '../snapshot.ts';
import type { NicState } from './nic-state.ts';

/**
 * Settings a managed NIC needs if several NICs share a subnet (networking/ip-sysctl in the kernel docs). Replies may
 * leave by another NIC than the packet arrived on. Each NIC answers ARP only for its own addresses, and asks only in
 * their name. Foreign changes to these settings are reported, not repaired.
 */
export const lastingSettings = {
  'ipv4.rp_filter': '2',
  'ipv4.arp_ignore': '1',
  'ipv4.arp_announce': '2',
} as const satisfies Settings;

function isLasting(key: SettingKey): key is keyof typeof lastingSettings {
  return key in lastingSettings;
}

function pick(settings: Settings, keep: (key: SettingKey) => boolean): Settings {
  const present = settingKeys.filter((key) => settings[key] !== undefined && keep(key));
  return Object.fromEntries(present.map((key) => [key, settings[key]]));
}

/** Returns the state without settings foreign software may change: a difference there is no failure. */
export function withoutLasting(state: NicState): NicState {
  const { link } = state;
  if (!link) return state;
  return { ...state, link: { ...link, settings: pick(link.settings, (key) => !isLasting(key)) } };
}

/**
 * Returns the wanted state with the link's address mode if the link-local addresses already match: NetworkManager makes
 * them itself and sets mode none (libnm-core, `addr-gen-mode`).
 */
export function withForeignMode(want: NicState, now: NicState): NicState {
  const [{ link }, { link: before }] = [want, now];
  if (!link?.linkLocal || before?.addressMode !== 'none' || !before.up) return want;
  const alike = before.linkLocal?.toString() === link.linkLocal.toString();
  return alike ? { ...want, link: { ...link, addressMode: before.addressMode } } : want;
}

/**
 * True if a link has default settings instead of ours, after a stay in another network namespace: the kernel resets
 * settings there and keeps the link index. Users rarely reset all settings (some defaults may equal ours), and have no
 * reason to re-enable router advertisements. A link with a small MTU has no `accept_ra`.
 */
export function hasLostSettings(now: Settings, defaults: Settings): boolean {
  const { 'ipv6.accept_ra': acceptRa } = now;
  const takesRa = acceptRa === undefined || acceptRa === defaults['ipv6.accept_ra'];
  return takesRa && settingKeys.filter(isLasting).every((key) => now[key] === defaults[key]);
}

/** Returns the wanted state; for a NIC already set up, without settings foreign software changed since. */
export function withForeignSettings(want: NicState, now: NicState, setUp: boolean): NicState {
  const { link } = want;
  if (!link || !setUp) return want;
  const settings = pick(
    link.settings,
    (key) => !isLasting(key) || now.link?.settings[key] === link.settings[key],
  );
  return { ...want, link: { ...link, settings } };
}

/** Returns settings to restore, without settings foreign software changed meanwhile. */
export function withoutForeignChanges(former: Settings, now: Settings): Settings {
  return pick(former, (key) => !isLasting(key) || now[key] === lastingSettings[key]);
}

/** Returns a managed NIC's settings changed by foreign software, as `key=value`; missing settings do not count. */
export function foreignSettings(now: Settings): string[] {
  const changed = settingKeys.filter(
    (key) => isLasting(key) && now[key] !== undefined && now[key] !== lastingSettings[key],
  );
  return changed.map((key) => `${key}=${now[key]}`);
}

/** Returns a link setting's name in sysctl(8) form. */
export function settingName(link: string, key: string): string {
  const [family, name] = key.split('.');
  return `net.${family}.conf.${link}.${name}`;
}
