import { row, type StatusReasonRow } from './reason-row.ts';

/** Reasons about selected servers of an OpenstackConfig. */
export const serverReasons = {
  ServerNotFound: row(
    'openstackconfig',
    true,
    [
      'A server in spec.vmNames does not exist in the project, or no server matches spec.vmSelector.',
      'spec.vmNames의 서버가 프로젝트에 없거나 spec.vmSelector에 맞는 서버가 없습니다.',
    ],
    [
      'Correct spec.vmNames or spec.vmSelector.',
      'spec.vmNames 또는 spec.vmSelector를 수정하십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], step: 'Assignment', blocks: ['servers'] },
  ),
  ServerSoftDeleted: row(
    'openstackconfig',
    true,
    [
      'Nova has soft-deleted a selected server; its NICs stay, because a restore brings the server back.',
      'Nova가 선택된 서버를 소프트 삭제했습니다. 복원하면 서버가 돌아오므로 NIC는 유지됩니다.',
    ],
    [
      'Restore the server (openstack server restore), or delete it for good (openstack server delete --force).',
      '서버를 복원하거나(openstack server restore) 완전히 삭제하십시오(openstack server delete --force).',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], step: 'Assignment', blocks: ['servers'] },
  ),
  ServerNotUnique: row(
    'openstackconfig',
    true,
    [
      'Several servers in the project have a name in spec.vmNames; no server is deselected meanwhile.',
      'spec.vmNames의 이름을 가진 서버가 프로젝트에 여러 대입니다. 그동안 어떤 서버도 선택에서 제외하지 않습니다.',
    ],
    [
      'Use the id of the server in spec.vmNames, or rename the other servers.',
      'spec.vmNames에 서버 ID를 지정하거나 다른 서버의 이름을 바꾸십시오.',
    ],
    { alerts: ['MultiNicOpenstackConfigNotReady'], blocks: ['servers'] },
  ),
} as const satisfies Record<string, StatusReasonRow>;
