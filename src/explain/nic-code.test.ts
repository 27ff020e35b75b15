import { expect, it } from 'vitest';
import { ofNic } from './nic-code.ts';

const message = 'the name multinic0 is in use by the link with MAC 52:54:00:00:00:01';

it('ofNic explains a taken name in Korean by code', () => {
  const args = 'name=multinic0 mac=52:54:00:00:00:01';
  expect(ofNic('NICInUse', { message, code: 'NameTaken', args })).toEqual({
    en: message,
    ko: 'MAC 52:54:00:00:00:01인 링크가 이름 multinic0을 사용 중입니다',
  });
});

it.each([
  [
    'FileConfiguresNic',
    'section=ethernets.ens4.dhcp4 path=50-x.yaml',
    '50-x.yaml 파일이 이 NIC를 설정합니다(ethernets.ens4.dhcp4)',
  ],
  [
    'LinkHasMaster',
    'link=ens4 master=b path=50-x.yaml section=bonds.b',
    '링크 ens4가 b의 멤버입니다(50-x.yaml bonds.b)',
  ],
])('ofNic adds the file and stanza behind %s in Korean', (code, args, ko) => {
  expect(ofNic('NICInUse', { message, code, args })).toEqual({ en: message, ko });
});

it.each([
  ['an earlier agent', {}],
  ['a value that args leave out', { code: 'NameTaken', args: 'name=multinic0' }],
  ['a code of a later agent', { code: 'toString', args: '' }],
])('ofNic writes the meaning for %s', (_, coded) => {
  expect(ofNic('NICInUse', { message, ...coded }).ko).toContain(`(${message})`);
});
