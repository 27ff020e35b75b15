import { businessGroup } from '../api/names.ts';
import type { Places, RightsTable } from '../kube/rights.ts';
import { nodeConfigs } from './node-config.ts';
import type { ViolaSettings } from './settings.ts';

/** `own`: Viola's own namespace. */
export type ViolaPlace = 'registrations' | 'own';

/** Rights that Viola needs in the management cluster. */
export const violaRights: RightsTable<ViolaPlace, never> = {
  roles: { registrations: 'viola-api', own: 'viola-api-events' },
  rights: [
    {
      group: '',
      resource: 'secrets',
      verbs: ['list', 'watch'],
      where: 'registrations',
      why: {
        en: 'The Secrets that register business clusters, in a namespace that holds nothing else.',
        ko: '비즈니스 클러스터를 등록하는 Secret입니다. 이 네임스페이스에는 다른 것이 없습니다.',
      },
    },
    {
      group: '',
      resource: 'secrets',
      verbs: ['patch'],
      where: 'registrations',
      why: {
        en: 'A token that was renewed takes the place of the one before it.',
        ko: '갱신한 토큰으로 이전 토큰을 바꿉니다.',
      },
      rare: true,
    },
    {
      group: '',
      resource: 'events',
      verbs: ['create', 'patch'],
      where: 'own',
      why: {
        en: 'What is missing at the start is told on the Pod.',
        ko: '시작할 때 부족한 것을 Pod에 Event로 알립니다.',
      },
      rare: true,
    },
  ],
};

/** Rights that a registration's identity needs in its business cluster. */
export const writerRights: RightsTable<'objects', never> = {
  roles: { objects: 'viola' },
  rights: [
    {
      group: businessGroup,
      resource: nodeConfigs.plural,
      verbs: ['get', 'list', 'create', 'patch', 'delete'],
      where: 'objects',
      why: {
        en: 'Node configs: they are read, written and deleted here, and nothing else is.',
        ko: '노드 설정만 읽고 쓰고 삭제하며 다른 것은 다루지 않습니다.',
      },
    },
    {
      group: '',
      resource: 'serviceaccounts/token',
      names: ['viola'],
      verbs: ['create'],
      where: 'objects',
      why: {
        en: 'Its own token is renewed when half of its life is over.',
        ko: '자신의 토큰은 유효 기간의 절반이 지나면 갱신합니다.',
      },
      rare: true,
    },
  ],
};

export function placesOf(
  { registrationsNamespace }: Pick<ViolaSettings, 'registrationsNamespace'>,
  ownNamespace: string | undefined,
): Places<ViolaPlace> {
  // Outside a cluster no Pod exists for Events.
  const own = ownNamespace === undefined ? [] : [ownNamespace];
  return { registrations: [registrationsNamespace], own };
}
