import { correctAndSync } from './next-step-row.ts';
import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons for an OpenstackConfig with an unreadable cloud. */
export const cloudReasons = {
  ContrabassError: row(
    'openstackconfig',
    true,
    [
      'Contrabass did not return the provider, or the password of the provider could not be decrypted.',
      'Contrabass에서 프로바이더를 조회하지 못했거나 프로바이더의 암호를 복호화하지 못했습니다.',
    ],
    [
      'Check openstackProviderID, contrabassEndpoint and the encryption key.',
      'openstackProviderID, contrabassEndpoint, 암호화 키를 확인하십시오.',
    ],
    {
      alerts: ['MultiNicCloudFailing'],
      blocks: ['sync'],
      nextStep: correctAndSync(
        'correct openstackProviderID, contrabassEndpoint or the encryption key, then:',
        'openstackProviderID, contrabassEndpoint 또는 암호화 키를 수정한 뒤:',
      ),
    },
  ),
  KeystoneError: row(
    'openstackconfig',
    true,
    ['Keystone issued no token.', 'Keystone 토큰을 발급받지 못했습니다.'],
    [
      'Check URL, account, password and projectID. A refused password is retried once an hour; at once when the password changes, or the annotation multinic.io/reconcile-at gets a new value.',
      'URL, 계정, 암호, projectID를 확인하십시오. 거부된 암호는 한 시간에 한 번만 다시 시도하며, 암호가 바뀌거나 multinic.io/reconcile-at 어노테이션에 새 값을 설정하면 즉시 다시 시도합니다.',
    ],
    {
      alerts: ['MultiNicCloudFailing'],
      blocks: ['sync'],
      nextStep: correctAndSync(
        'correct URL, account, password or projectID, then:',
        'URL, 계정, 암호 또는 projectID를 수정한 뒤:',
      ),
    },
  ),
  NeutronEndpointError: row(
    'openstackconfig',
    true,
    [
      'The Keystone catalog has no Neutron endpoint for the configured interface and region.',
      'Keystone 카탈로그에 설정한 인터페이스와 리전의 Neutron 엔드포인트가 없습니다.',
    ],
    [
      'Check openstackEndpointInterface and openstackEndpointRegion, or set openstackNeutronEndpoint.',
      'openstackEndpointInterface와 openstackEndpointRegion을 확인하거나 openstackNeutronEndpoint를 지정하십시오.',
    ],
    { alerts: ['MultiNicCloudFailing'], blocks: ['sync'] },
  ),
  NeutronPortError: row(
    'openstackconfig',
    true,
    [
      'The ports could not be read completely; nothing was removed.',
      '포트를 완전히 조회하지 못했으며 아무것도 제거하지 않았습니다.',
    ],
    ['Check Neutron; the operator retries.', 'Neutron 상태를 확인하십시오. 자동으로 재시도합니다.'],
    { alerts: ['MultiNicCloudFailing'], step: 'Assignment', blocks: ['sync'] },
  ),
  NeutronSubnetError: row(
    'openstackconfig',
    true,
    ['A subnet could not be read.', '서브넷을 조회하지 못했습니다.'],
    [
      'Check the id of the subnet and the rights of the account.',
      '서브넷 ID와 계정 권한을 확인하십시오.',
    ],
    { alerts: ['MultiNicCloudFailing'], step: 'Filter', blocks: ['sync'] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
