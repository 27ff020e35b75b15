import type { Alerts } from './alert.ts';
import { logs, operatorNamespace } from './commands.ts';

/** Who may call whom, and with what. */
export const ofAccess = {
  MultiNicTokenFileUnusable: {
    exprs: { 'multinic-operator': 'min by (cluster, server) (multinic_token_file_usable) == 0' },
    for: '2m',
    severity: 'critical',
    summary: 'The token file of {{ $labels.server }} cannot be used.',
    description:
      'Nobody gets into {{ $labels.server }}: its token file has been gone or broken for 2 minutes.',
    meaning: {
      en: 'The list of who may call cannot be read or is not what it should be. Half a minute after that nobody gets in, for nobody knows any more whose token was withdrawn.',
      ko: '호출 권한 목록을 읽을 수 없거나 형식이 잘못되었습니다. 어떤 토큰이 회수되었는지 알 수 없으므로 30초가 지나면 모든 호출을 거부합니다.',
    },
    impact: {
      en: 'Every call is answered 503. Of Viola: nothing is delivered. Of the inventory: nothing can be looked up.',
      ko: '모든 호출에 503으로 응답합니다. Viola라면 변경이 전달되지 않고, 인벤토리라면 조회할 수 없습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log names the file and the line that cannot be used.',
          ko: '사용할 수 없는 파일과 항목은 로그에 나타납니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'See whether the Secret is there; it holds hashes only.',
          ko: 'Secret이 있는지 확인합니다. 해시만 저장되어 있습니다.',
        },
        run: `kubectl -n ${operatorNamespace} get secret viola-api-tokens -o yaml`,
      },
    ],
    fix: [
      {
        en: 'Correct the list; [access](../guides/access.md) shows its form. The file is read at each call: no restart is needed.',
        ko: '목록을 수정하십시오. 형식은 [access](../guides/access.md)를 참고하십시오. 호출할 때마다 파일을 읽으므로 재시작은 필요 없습니다.',
      },
    ],
  },
} as const satisfies Alerts;
