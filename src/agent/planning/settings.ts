import { type SettingKey, type Settings, settingKeys } from '../snapshot.ts';
import type { NicState } from './nic-state.ts';

/**
 * What a NIC of ours needs when others are in its subnet (networking/ip-sysctl of the kernel): replies may leave by another
 * NIC than the one that a packet came by, each NIC answers for its own addresses alone, and asks in their name alone. Others
 * may want something else and have it: that is told, and nothing is done about it.
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
  const there = settingKeys.filter((key) => settings[key] !== undefined && keep(key));
  return Object.fromEntries(there.map((key) => [key, settings[key]]));
}

/** The state with what others may decide about left out: nothing has failed when it is otherwise. */
export function withoutLasting(state: NicState): NicState {
  const { link } = state;
  if (!link) return state;
  return { ...state, link: { ...link, settings: pick(link.settings, (key) => !isLasting(key)) } };
}

/**
 * The wanted state, with the address mode that the link has where its link-local addresses are the wanted ones all the same:
 * NetworkManager makes them itself and tells the kernel to make none (libnm-core, `addr-gen-mode`).
 */
export function withForeignMode(want: NicState, now: NicState): NicState {
  const [{ link }, { link: before }] = [want, now];
  if (!link?.linkLocal || before?.addressMode !== 'none' || !before.up) return want;
  const alike = before.linkLocal?.toString() === link.linkLocal.toString();
  return alike ? { ...want, link: { ...link, addressMode: before.addressMode } } : want;
}

/**
 * Whether a link has the settings of a new one instead of ours: it has been in another network namespace, which drops them and
 * keeps the link's index. Users who change a setting rarely change all of them to the defaults, which some of ours may be already,
 * and have no reason to have the NIC take router advertisements again. A link with a small MTU has no such setting.
 */
export function hasLostSettings(now: Settings, defaults: Settings): boolean {
  const { 'ipv6.accept_ra': acceptRa } = now;
  const takesRa = acceptRa === undefined || acceptRa === defaults['ipv6.accept_ra'];
  return takesRa && settingKeys.filter(isLasting).every((key) => now[key] === defaults[key]);
}

/** The wanted state of a NIC; of one that was set up before, without what others have changed of its settings since. */
export function withForeignSettings(want: NicState, now: NicState, setUp: boolean): NicState {
  const { link } = want;
  if (!link || !setUp) return want;
  const settings = pick(
    link.settings,
    (key) => !isLasting(key) || now.link?.settings[key] === link.settings[key],
  );
  return { ...want, link: { ...link, settings } };
}

/** What is to be given back: not what others have changed since it was ours. */
export function withoutForeignChanges(former: Settings, now: Settings): Settings {
  return pick(former, (key) => !isLasting(key) || now[key] === lastingSettings[key]);
}

/** Settings of a NIC of ours that others have changed, as `key=value`; those that it does not have are none. */
export function foreignSettings(now: Settings): string[] {
  const changed = settingKeys.filter(
    (key) => isLasting(key) && now[key] !== undefined && now[key] !== lastingSettings[key],
  );
  return changed.map((key) => `${key}=${now[key]}`);
}

/** The name of a setting of a link as sysctl(8) has it. */
export function settingName(link: string, key: string): string {
  const [family, name] = key.split('.');
  return `net.${family}.conf.${link}.${name}`;
}
