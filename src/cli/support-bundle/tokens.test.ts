import { expect, it } from 'vitest';
import { Tokens } from './tokens.ts';

it.each([
  ['fd00::1/64', 'ip-1/64'],
  ['fe80::f816:3eff:fe00:77%eth0', 'ip-1%eth0'],
  ['[fd00::5]:6443 and FD00:0::5', '[ip-1]:6443 and ip-1'],
  ['fd00::5: connection refused', 'ip-1: connection refused'],
  ['2001:db8:0:1:2:3:4:5 2001:db8::', 'ip-1 ip-2'],
  ['::1 and ::', '::1 and ::'],
  ['2026-11-26 05:20:11', '2026-11-26 05:20:11'],
  ['fa:16:3e:00:00:77 FA-16-3E-00-00-77 enxfa163e000077', 'mac-1 mac-1 enxmac-1'],
  ['0123456789abcdef0123456789abcdef 01234567-89AB-cdef-0123-456789abcdef', 'id-1 id-1'],
  ['https://keystone.corp.example:5000/v3', 'https://host-1:5000/v3'],
  ['https://viola-api.multinic-system.svc:18080', 'https://viola-api.multinic-system.svc:18080'],
  ['worker-1 worker-18 worker-1.local "web (1)"', 'name-1 name-2 name-1.local "name-3"'],
])('with --without addresses %s becomes %s', (text, expected) => {
  expect(new Tokens(['worker-1', 'worker-18', 'web (1)', 'w1']).text(text)).toBe(expected);
});
