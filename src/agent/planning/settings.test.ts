import { describe, expect, test } from 'vitest';
import { entry, freshSettings, link } from '../../../test/fixtures/agent-samples.ts';
import { desiredNic, desiredState } from './desired.ts';
import type { NicState } from './nic-state.ts';
import {
  foreignSettings,
  hasLostSettings,
  withForeignMode,
  withForeignSettings,
  withoutForeignChanges,
  withoutLasting,
} from './settings.ts';

const want = desiredState(desiredNic(entry(1), 0, link(1), []));
const ours = { 'ipv6.accept_ra': '0', 'ipv4.rp_filter': '2', 'ipv4.arp_ignore': '1' };

function now(settings: object): NicState {
  if (!want.link) throw new Error('no link');
  return { ...want, link: { ...want.link, settings } };
}

describe('settings foreign software may change', () => {
  test('withForeignSettings wants all settings before the first set-up', () => {
    expect(withForeignSettings(want, now(freshSettings), false)).toBe(want);
  });

  test('withForeignSettings leaves foreign values alone, except accept_ra', () => {
    const changed = { ...ours, 'ipv6.accept_ra': '1', 'ipv4.rp_filter': '0' };
    expect(withForeignSettings(want, now(changed), true).link?.settings).toEqual({
      'ipv6.accept_ra': '0',
      'ipv4.arp_ignore': '1',
    });
  });

  test.each([
    ['all values at defaults is true', {}, {}, true],
    ['a default equal to ours is true', { 'ipv4.rp_filter': '2' }, { 'ipv4.rp_filter': '2' }, true],
    ['a remaining managed value is false', { 'ipv4.arp_announce': '2' }, {}, false],
    ['a value neither default nor ours is false', { 'ipv4.rp_filter': '1' }, {}, false],
    ['our accept_ra is false', { 'ipv6.accept_ra': '0' }, {}, false],
    [
      'user-set defaults beside our accept_ra is false',
      { 'ipv6.accept_ra': '0', 'ipv4.rp_filter': '2' },
      { 'ipv4.rp_filter': '2' },
      false,
    ],
  ])('hasLostSettings with %s: %j, defaults %j', (_, change, defaults, lost) => {
    const present = { ...freshSettings, ...change };
    expect(hasLostSettings(present, { ...freshSettings, ...defaults })).toBe(lost);
  });

  test('hasLostSettings is true without accept_ra on a link with a small MTU', () => {
    const { 'ipv6.accept_ra': _, ...present } = freshSettings;
    expect(hasLostSettings(present, freshSettings)).toBe(true);
  });

  test('withoutLasting drops settings foreign software may change', () => {
    expect(withoutLasting(want).link?.settings).toEqual({ 'ipv6.accept_ra': '0' });
    expect(withoutLasting({ rules: [] })).toEqual({ rules: [] });
  });

  test('withoutForeignChanges restores settings except foreign values', () => {
    const former = { 'ipv6.accept_ra': '2', 'ipv4.rp_filter': '1', 'ipv4.arp_ignore': '0' };
    expect(withoutForeignChanges(former, { ...ours, 'ipv4.arp_ignore': '8' })).toEqual({
      'ipv6.accept_ra': '2',
      'ipv4.rp_filter': '1',
    });
  });

  test('foreignSettings lists settings changed by foreign software, without accept_ra', () => {
    expect(foreignSettings(ours)).toEqual([]);
    const changed = { ...ours, 'ipv4.rp_filter': '0', 'ipv6.accept_ra': '1' };
    expect(foreignSettings(changed)).toEqual(['ipv4.rp_filter=0']);
  });
});

describe('address mode', () => {
  const six = desiredState(desiredNic({ ...entry(1), addresses: ['fd00::1/64'] }, 0, link(1), []));
  const nowWith = (change: object): NicState => ({
    ...six,
    link: { ...(six.link as NonNullable<NicState['link']>), addressMode: 'none', ...change },
  });

  test('withForeignMode accepts mode none if the manager made the link-local address', () => {
    expect(withForeignMode(six, nowWith({})).link).toMatchObject({ addressMode: 'none' });
  });

  test.each([
    ['the link-local address is missing', { linkLocal: [] }],
    ['the link-local address differs', { linkLocal: ['fe80::1/64'] }],
    [
      'the link has a second link-local address',
      { linkLocal: [...(six.link?.linkLocal ?? []), 'fe80::1/64'] },
    ],
    ['the link is down', { up: false }],
    ['the current mode is stable_secret', { addressMode: 'stable_secret' }],
  ])('withForeignMode wants our mode where %s', (_what, change) => {
    expect(withForeignMode(six, nowWith(change))).toBe(six);
  });

  test('an IPv4-only NIC has address mode none', () => {
    expect(withForeignMode(want, nowWith({ linkLocal: [] })).link?.addressMode).toBe('none');
  });
});
