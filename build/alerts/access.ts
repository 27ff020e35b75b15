import type { Alerts } from './alert.ts';
import { logs, operatorNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const day = 86_400;
const expiry = 'multinic_viola_certificate_expiry_timestamp_seconds';
const kept = ofLeader(`${expiry}{certificate=~"ca|server"}`, 'operator', ['certificate']);
const expiring = `min by (cluster, certificate) ((${expiry}{certificate="served"} or ${kept}) - time()) < ${14 * day}`;

/** The gauge says nothing of who it is: that is in another one of the same process. */
function rightsMissing(parts: string): string {
  const who = `multinic_build_info{part=~"${parts}"}`;
  const missing = `multinic_rights_missing * ignoring (part, version, commit) group_right () ${who}`;
  return `max by (cluster, part) (${missing}) > 0`;
}

function outdated(crd: string): string {
  return `max by (cluster, crd) (multinic_crd_schema_behind{crd="${crd}"}) > 0`;
}

/** Who may call whom, and with what. */
export const ofAccess = {
  MultiNicTokenFileUnusable: {
    exprs: { 'multinic-operator': 'min by (cluster, server) (multinic_token_file_usable) == 0' },
    for: '2m',
    severity: 'critical',
    summary: 'A token file of {{ $labels.server }} cannot be used.',
    description:
      'Callers are kept out of {{ $labels.server }}: a token file has been gone or broken for 2 minutes.',
    meaning: {
      en: 'A list of who may call cannot be read or is not what it should be. Half a minute after that nobody whom it names gets in, for nobody knows any more whose token was withdrawn. Other files of the folder hold.',
      ko: '호출 권한 목록을 읽을 수 없거나 형식이 잘못되었습니다. 어떤 토큰이 회수되었는지 알 수 없으므로 30초가 지나면 그 파일의 호출자를 모두 거부합니다. 폴더의 다른 파일은 계속 유효합니다.',
    },
    impact: {
      en: 'Of a folder, the callers of the broken file are answered 401. When no file is left, every call is answered 503. Of Viola: nothing is delivered. Of the inventory: nothing can be looked up.',
      ko: '폴더라면 해당 파일의 호출자에게 401로 응답합니다. 쓸 수 있는 파일이 하나도 없으면 모든 호출에 503으로 응답합니다. Viola라면 변경이 전달되지 않고, 인벤토리라면 조회할 수 없습니다.',
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
        ko: '목록을 수정하십시오. 형식은 [access](../guides/access.ko.md)를 참고하십시오. 호출할 때마다 파일을 읽으므로 재시작은 필요 없습니다.',
      },
    ],
  },
  MultiNicAccessNotKept: {
    exprs: {
      'multinic-operator':
        'sum by (cluster, secret) (increase(multinic_viola_access_failures_total[10m])) > 0',
    },
    for: '15m',
    severity: 'warning',
    summary: 'The Secret {{ $labels.secret }} between operator and Viola is not kept.',
    description:
      'The operator has failed for 15 minutes to read, write or renew the Secret {{ $labels.secret }}.',
    meaning: {
      en: 'The leading operator looks once a minute at the Secrets by which it and Viola know each other, and cannot keep one: a right is missing, somebody else made it, or a webhook changes what is written.',
      ko: '리더 오퍼레이터는 Viola와 서로를 확인하는 Secret을 1분마다 점검하는데, 그중 하나를 관리하지 못하고 있습니다. 권한이 없거나, 다른 주체가 만든 Secret이거나, webhook이 기록한 값을 바꾸는 경우입니다.',
    },
    impact: {
      en: 'Nothing yet: what is there goes on being used. A token or certificate that is not renewed ends, and then nothing is delivered.',
      ko: '아직 영향은 없으며 현재 값으로 계속 동작합니다. 갱신되지 않은 토큰이나 인증서가 만료되면 변경이 전달되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log names the Secret, what is wrong with it, and what to do (`ViolaAccessFailed`).',
          ko: '로그에 Secret, 문제점, 조치(`ViolaAccessFailed`)가 나옵니다.',
        },
        run: logs.operator,
      },
      {
        say: { en: 'See who wrote the Secrets.', ko: 'Secret을 누가 기록했는지 확인합니다.' },
        run: `kubectl -n ${operatorNamespace} get secrets multinic-ca viola-api-tls multinic-operator-viola-token viola-api-tokens -o custom-columns='NAME:.metadata.name,BY:.metadata.managedFields[*].manager'`,
      },
    ],
    fix: [
      {
        en: 'Grant the right (`helm upgrade` restores it), or delete a Secret that somebody else made: the operator makes it anew within a minute. Where Secrets are given by cert-manager or by you, say so with `--viola-tls given` or `--viola-access given`.',
        ko: '권한을 부여하거나(`helm upgrade`로 복구) 다른 주체가 만든 Secret을 삭제하십시오. 오퍼레이터가 1분 안에 다시 만듭니다. cert-manager 또는 직접 만든 Secret을 쓴다면 `--viola-tls given` 또는 `--viola-access given`으로 지정하십시오.',
      },
    ],
  },
  MultiNicCertificateExpiring: {
    exprs: { 'multinic-operator': expiring },
    for: '1h',
    severity: 'warning',
    summary: 'The certificate {{ $labels.certificate }} of Viola is about to end.',
    description:
      'The certificate {{ $labels.certificate }} ends in {{ $value | humanizeDuration }}, and nobody has renewed it.',
    meaning: {
      en: '`served` is what Viola shows its callers; `server` and `ca` are what the operator keeps. Those that the operator keeps are renewed a month before their end, so that one with less than two weeks left is not renewed by anybody.',
      ko: '`served`는 Viola가 호출자에게 제시하는 인증서이고, `server`와 `ca`는 오퍼레이터가 관리하는 인증서입니다. 오퍼레이터는 만료 한 달 전에 갱신하므로 2주도 남지 않았다면 아무도 갱신하지 않는 상태입니다.',
    },
    impact: {
      en: 'When it has ended the operator refuses Viola: nothing is delivered to any business cluster.',
      ko: '만료되면 오퍼레이터가 Viola 연결을 거부하여 모든 비즈 클러스터에 변경이 전달되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See until when the certificate in the Secret lasts.',
          ko: 'Secret에 있는 인증서의 만료일을 확인합니다.',
        },
        run: `kubectl -n ${operatorNamespace} get secret viola-api-tls -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -subject -issuer -enddate`,
      },
      {
        say: {
          en: 'Only `served` is old: Viola cannot read the new one, and says why. It looks once a minute.',
          ko: '`served`만 오래되었다면 Viola가 새 인증서를 읽지 못한 것이며 원인은 로그에 있습니다. Viola는 1분마다 확인합니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'The operator keeps it (`--viola-tls managed`): its log says why it was not renewed.',
          ko: '오퍼레이터가 관리하는 경우(`--viola-tls managed`) 갱신하지 못한 원인은 오퍼레이터 로그에 있습니다.',
        },
        run: logs.operator,
      },
    ],
    fix: [
      {
        en: 'Kept by the operator: see [MultiNicAccessNotKept](MultiNicAccessNotKept.md). Given: renew the Secret `viola-api-tls`, or look at the Certificate of cert-manager; no restart is needed.',
        ko: '오퍼레이터가 관리하면 [MultiNicAccessNotKept](MultiNicAccessNotKept.ko.md)를 참고하십시오. 직접 관리하면 Secret `viola-api-tls`를 갱신하거나 cert-manager의 Certificate를 확인하십시오. 재시작은 필요 없습니다.',
      },
    ],
  },
  MultiNicRightsMissing: {
    exprs: {
      'multinic-operator': rightsMissing('operator|viola'),
      'multinic-agent': rightsMissing('controller'),
    },
    for: '5m',
    severity: 'warning',
    summary: 'The {{ $labels.part }} lacks rights that it needs.',
    description:
      'The API server would refuse {{ $value }} things that the {{ $labels.part }} has to do.',
    meaning: {
      en: 'The part asked the API server for each of its rights, and some are missing: a role was changed, or the release was installed by halves.',
      ko: '필요한 권한을 API 서버에 하나씩 확인한 결과 일부가 없습니다. Role이 변경되었거나 릴리스가 일부만 설치된 상태입니다.',
    },
    impact: {
      en: 'The part is not ready, and what it may not do fails.',
      ko: '해당 파트는 Ready가 아니며, 권한이 없는 작업은 실패합니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log names each right (`RightsMissing`), its role, and a command that adds it.',
          ko: '로그에 권한(`RightsMissing`), 해당 Role, 추가 명령이 나옵니다.',
        },
        run: `${logs.operator}; ${logs.viola}; ${logs.controller}`,
      },
      {
        say: {
          en: 'Compare with what the part needs: [rights](../reference/rights.md).',
          ko: '필요한 권한과 비교합니다: [권한](../reference/rights.ko.md).',
        },
      },
    ],
    fix: [
      {
        en: '`helm upgrade` restores the roles of the chart. The part notices within half a minute.',
        ko: '`helm upgrade`로 차트의 Role을 복구하십시오. 30초 안에 반영됩니다.',
      },
    ],
  },
  MultiNicClusterRightsMissing: {
    exprs: {
      'multinic-operator': 'max by (cluster, provider) (multinic_cluster_rights_missing) > 0',
    },
    for: '15m',
    severity: 'warning',
    summary: 'Viola lacks rights in the business cluster {{ $labels.provider }}.',
    description:
      'The account that {{ $labels.provider }} is registered with may not do {{ $value }} things that Viola has to do.',
    meaning: {
      en: 'The account of the registration lacks rights in the namespace of the MultiNicNodeConfigs of that cluster.',
      ko: '등록된 계정에 해당 클러스터의 MultiNicNodeConfig 네임스페이스 권한이 부족합니다.',
    },
    impact: {
      en: 'Nodes of that cluster are not written. Other clusters are not worse for it.',
      ko: '해당 클러스터의 노드에 변경이 기록되지 않습니다. 다른 클러스터에는 영향이 없습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log of Viola names each right.',
          ko: '부족한 권한은 Viola 로그에 나옵니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'In the business cluster: see the role that the chart `multinic-agent` makes for Viola.',
          ko: '비즈 클러스터에서 `multinic-agent` 차트가 만드는 Viola의 Role을 확인합니다.',
        },
        run: 'kubectl -n multinic-system get role,rolebinding viola -o yaml',
      },
    ],
    fix: [
      {
        en: 'Upgrade the chart `multinic-agent` of that cluster (`violaAccess.create`), or bind the role `viola` to the account of the registration.',
        ko: '해당 클러스터의 `multinic-agent` 차트를 업그레이드하거나(`violaAccess.create`) 등록된 계정에 Role `viola`를 바인딩하십시오.',
      },
    ],
  },
  MultiNicCrdOutdated: {
    exprs: {
      'multinic-operator': outdated('openstackconfigs.multinic.example.com'),
      'multinic-agent': outdated('multinicnodeconfigs.multinic.io'),
    },
    for: '5m',
    severity: 'warning',
    summary: 'The definition {{ $labels.crd }} is older than MultiNIC.',
    description: 'The installed {{ $labels.crd }} is {{ $value }} changes behind.',
    meaning: {
      en: 'The parts were upgraded and the CustomResourceDefinition was not.',
      ko: '파트는 업그레이드되었지만 CRD는 이전 버전입니다.',
    },
    impact: {
      en: 'The API server drops fields that it does not know in silence. So that nothing is lost, the part is not ready.',
      ko: 'API 서버는 모르는 필드를 조용히 버립니다. 값이 사라지지 않도록 파트는 Ready가 되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See which definition is installed, and by whom.',
          ko: '설치된 CRD와 설치한 주체를 확인합니다.',
        },
        run: "kubectl get crds openstackconfigs.multinic.example.com multinicnodeconfigs.multinic.io --ignore-not-found -o custom-columns='NAME:.metadata.name,SCHEMA:.metadata.annotations.multinic\\.io/schema,RELEASE:.metadata.annotations.meta\\.helm\\.sh/release-name'",
      },
    ],
    fix: [
      {
        en: 'Apply the definitions of this version: `helm upgrade` with `crds.install=true` (and `--take-ownership` where somebody else installed them), or `make install`.',
        ko: '이 버전의 CRD를 적용하십시오: `crds.install=true`로 `helm upgrade`(다른 주체가 설치한 CRD이면 `--take-ownership` 추가) 또는 `make install`.',
      },
    ],
  },
  MultiNicLegacyListenerOn: {
    exprs: { 'multinic-operator': 'max by (cluster) (multinic_legacy_listener) == 1' },
    for: '3d',
    severity: 'info',
    summary: 'Viola still takes node configs without a token.',
    description: 'The legacy listener of Viola has been on for three days.',
    meaning: {
      en: 'Viola was started with `--legacy-listener`, so that the operator that was deployed before, which sends no token, reaches it from the addresses of `--legacy-allow-from`. It is meant for a migration.',
      ko: '토큰을 보내지 않는 기존 오퍼레이터가 `--legacy-allow-from` 주소에서 접속할 수 있도록 Viola가 `--legacy-listener`로 실행 중입니다. 마이그레이션 기간에만 사용하는 설정입니다.',
    },
    impact: {
      en: 'Whoever can send from these addresses can configure NICs of every node, over plain HTTP.',
      ko: '해당 주소에서는 누구나 암호화되지 않은 HTTP로 모든 노드의 NIC를 설정할 수 있습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'See whether the operator that was deployed before still runs.',
          ko: '기존 오퍼레이터가 아직 실행 중인지 확인합니다.',
        },
        run: 'kubectl get deployments -A | grep -i multinic',
      },
      {
        say: {
          en: 'See who still calls without a token.',
          ko: '토큰 없이 호출하는 주체를 확인합니다.',
        },
        run: logs.viola,
      },
    ],
    fix: [
      {
        en: 'Finish the migration, then take `viola.settings.legacyListener` out of the values and upgrade the release.',
        ko: '마이그레이션을 마친 뒤 차트 값에서 `viola.settings.legacyListener`를 빼고 릴리스를 업그레이드하십시오.',
      },
    ],
  },
} as const satisfies Alerts;
