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

describe('settings that others may have as they want them', () => {
  test('are wanted of a NIC that was not set up yet', () => {
    expect(withForeignSettings(want, now(freshSettings), false)).toBe(want);
  });

  test('are left alone later, but not those that would have the NIC take more addresses', () => {
    const changed = { ...ours, 'ipv6.accept_ra': '1', 'ipv4.rp_filter': '0' };
    expect(withForeignSettings(want, now(changed), true).link?.settings).toEqual({
      'ipv6.accept_ra': '0',
      'ipv4.arp_ignore': '1',
    });
  });

  test.each([
    ['all are those of a new link', {}, {}, true],
    ['a new link has one of ours', { 'ipv4.rp_filter': '2' }, { 'ipv4.rp_filter': '2' }, true],
    ['one is ours still', { 'ipv4.arp_announce': '2' }, {}, false],
    ['one is neither', { 'ipv4.rp_filter': '1' }, {}, false],
    ['ours is there of IPv6', { 'ipv6.accept_ra': '0' }, {}, false],
    [
      'users have set to the defaults what a new link does not have of ours',
      { 'ipv6.accept_ra': '0', 'ipv4.rp_filter': '2' },
      { 'ipv4.rp_filter': '2' },
      false,
    ],
  ])('are lost, and not changed by others, when %s: %j, %j', (_, change, defaults, lost) => {
    const present = { ...freshSettings, ...change };
    expect(hasLostSettings(present, { ...freshSettings, ...defaults })).toBe(lost);
  });

  test('are lost on a link that has too small an MTU for settings of IPv6', () => {
    const { 'ipv6.accept_ra': _, ...present } = freshSettings;
    expect(hasLostSettings(present, freshSettings)).toBe(true);
  });

  test('fail nothing', () => {
    expect(withoutLasting(want).link?.settings).toEqual({ 'ipv6.accept_ra': '0' });
    expect(withoutLasting({ rules: [] })).toEqual({ rules: [] });
  });

  test('are given back where nobody else changed them', () => {
    const former = { 'ipv6.accept_ra': '2', 'ipv4.rp_filter': '1', 'ipv4.arp_ignore': '0' };
    expect(withoutForeignChanges(former, { ...ours, 'ipv4.arp_ignore': '8' })).toEqual({
      'ipv6.accept_ra': '2',
      'ipv4.rp_filter': '1',
    });
  });

  test('are told', () => {
    expect(foreignSettings(ours)).toEqual([]);
    const changed = { ...ours, 'ipv4.rp_filter': '0', 'ipv6.accept_ra': '1' };
    expect(foreignSettings(changed)).toEqual(['ipv4.rp_filter=0']);
  });
});

describe('the address mode of a link', () => {
  const six = desiredState(desiredNic({ ...entry(1), addresses: ['fd00::1/64'] }, 0, link(1), []));
  const nowWith = (change: object): NicState => ({
    ...six,
    link: { ...(six.link as NonNullable<NicState['link']>), addressMode: 'none', ...change },
  });

  test('may be that of a manager which makes the link-local address itself', () => {
    expect(withForeignMode(six, nowWith({})).link).toMatchObject({ addressMode: 'none' });
  });

  test.each([
    ['there is no such address', { linkLocal: [] }],
    ['it is another one', { linkLocal: ['fe80::1/64'] }],
    ['there is one more', { linkLocal: [...(six.link?.linkLocal ?? []), 'fe80::1/64'] }],
    ['the link is down, and nobody made it', { up: false }],
    ['it is none that a manager sets', { addressMode: 'stable_secret' }],
  ])('is set where %s', (_what, change) => {
    expect(withForeignMode(six, nowWith(change))).toBe(six);
  });

  test('is none without IPv6', () => {
    expect(withForeignMode(want, nowWith({ linkLocal: [] })).link?.addressMode).toBe('none');
  });
});
