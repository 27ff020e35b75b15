import type { Alerts } from './alert.ts';
import { logs, operatorNamespace } from './commands.ts';
import { ofLeader } from './expressions.ts';

const day = 86_400;
const expiry = 'multinic_viola_certificate_expiry_timestamp_seconds';
const kept = ofLeader(`${expiry}{certificate=~"ca|server"}`, 'operator', ['certificate']);
const expiring = `min by (cluster, certificate) ((${expiry}{certificate="served"} or ${kept}) - time()) < ${14 * day}`;

/** Returns missing rights by part; `multinic_build_info` of the same process has the label `part`. */
function rightsMissing(parts: string): string {
  const who = `multinic_build_info{part=~"${parts}"}`;
  const missing = `multinic_rights_missing * ignoring (part, version, commit) group_right () ${who}`;
  return `max by (cluster, part) (${missing}) > 0`;
}

function outdated(crd: string): string {
  return `max by (cluster, crd) (multinic_crd_schema_behind{crd="${crd}"}) > 0`;
}

/** Alerts about tokens, certificates, rights and CRDs. */
export const ofAccess = {
  MultiNicTokenFileUnusable: {
    exprs: { 'multinic-operator': 'min by (cluster, server) (multinic_token_file_usable) == 0' },
    for: '2m',
    severity: 'critical',
    summary: 'A token file of {{ $labels.server }} cannot be used.',
    description:
      '{{ $labels.server }} refuses callers: a token file has been missing or invalid for 2 minutes.',
    meaning: {
      en: 'A list of callers (token file) cannot be read or has an invalid form. After 30 s the server refuses all callers in this file, because it cannot know which tokens were revoked. Other files in the folder stay valid.',
      ko: '호출자 목록(토큰 파일)을 읽을 수 없거나 형식이 잘못되었습니다. 어떤 토큰이 회수되었는지 알 수 없으므로 30초가 지나면 서버가 그 파일의 호출자를 모두 거부합니다. 폴더의 다른 파일은 계속 유효합니다.',
    },
    impact: {
      en: 'With a folder of files, callers in the invalid file get 401. Without any valid file, every call gets 503. Viola: nothing is delivered to business clusters. Inventory: it cannot be queried.',
      ko: '파일이 여러 개인 폴더라면 잘못된 파일의 호출자에게 401로 응답합니다. 유효한 파일이 하나도 없으면 모든 호출에 503으로 응답합니다. Viola라면 비즈니스 클러스터에 변경이 전달되지 않고, 인벤토리라면 조회할 수 없습니다.',
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
          en: 'Check that the Secret exists; it contains hashes only.',
          ko: 'Secret이 있는지 확인합니다. 해시만 저장되어 있습니다.',
        },
        run: `kubectl -n ${operatorNamespace} get secret viola-api-tokens -o yaml`,
      },
    ],
    fix: [
      {
        en: 'Correct the list; [access](../guides/access.md) shows its form. The server reads the file at each call, so no restart is needed.',
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
    summary:
      'The operator cannot maintain the Secret {{ $labels.secret }} for the access to Viola.',
    description:
      'The operator has failed for 15 minutes to read, write or renew the Secret {{ $labels.secret }}.',
    meaning: {
      en: 'Once a minute the leading operator checks the Secrets that it shares with Viola (tokens and certificates). It cannot maintain one: a right is missing, the operator did not create the Secret, or a webhook changes what the operator writes.',
      ko: '리더 오퍼레이터는 Viola와 공유하는 Secret(토큰과 인증서)을 1분마다 점검하는데, 그중 하나를 관리하지 못하고 있습니다. 권한이 없거나, 오퍼레이터가 만들지 않은 Secret이거나, webhook이 오퍼레이터가 기록한 값을 바꾸는 경우입니다.',
    },
    impact: {
      en: 'None yet: the current token and certificate stay in use. When one expires without renewal, nothing is delivered to business clusters.',
      ko: '아직 영향은 없으며 현재 토큰과 인증서를 계속 사용합니다. 갱신되지 않고 만료되면 비즈니스 클러스터에 변경이 전달되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log names the Secret, the problem and the action (`ViolaAccessFailed`).',
          ko: '로그에 Secret, 문제점, 조치(`ViolaAccessFailed`)가 나옵니다.',
        },
        run: logs.operator,
      },
      {
        say: { en: 'Check who wrote the Secrets.', ko: 'Secret을 누가 기록했는지 확인합니다.' },
        run: `kubectl -n ${operatorNamespace} get secrets multinic-ca viola-api-tls multinic-operator-viola-token viola-api-tokens -o custom-columns='NAME:.metadata.name,BY:.metadata.managedFields[*].manager'`,
      },
    ],
    fix: [
      {
        en: 'Grant the right (`helm upgrade` restores it), or delete a Secret that the operator did not create: the operator creates it again within a minute. If cert-manager or you provide the Secrets, set `--viola-tls given` or `--viola-access given`.',
        ko: '권한을 부여하거나(`helm upgrade`로 복구) 오퍼레이터가 만들지 않은 Secret을 삭제하십시오. 오퍼레이터가 1분 안에 다시 만듭니다. cert-manager 또는 직접 만든 Secret을 쓴다면 `--viola-tls given` 또는 `--viola-access given`을 설정하십시오.',
      },
    ],
  },
  MultiNicCertificateExpiring: {
    exprs: { 'multinic-operator': expiring },
    for: '1h',
    severity: 'warning',
    summary: 'The certificate {{ $labels.certificate }} of Viola is about to expire.',
    description:
      'The certificate {{ $labels.certificate }} expires in {{ $value | humanizeDuration }} and was not renewed.',
    meaning: {
      en: '`served` is the certificate that Viola presents to its callers; `server` and `ca` are those that the operator manages. The operator renews them a month before they expire, so with less than two weeks left the renewal has failed.',
      ko: '`served`는 Viola가 호출자에게 제시하는 인증서이고, `server`와 `ca`는 오퍼레이터가 관리하는 인증서입니다. 오퍼레이터는 만료 한 달 전에 갱신하므로 2주도 남지 않았다면 갱신에 실패한 것입니다.',
    },
    impact: {
      en: 'After the expiry the operator refuses Viola: nothing is delivered to any business cluster.',
      ko: '만료되면 오퍼레이터가 Viola 연결을 거부하여 모든 비즈니스 클러스터에 변경이 전달되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check the expiry of the certificate in the Secret.',
          ko: 'Secret에 있는 인증서의 만료일을 확인합니다.',
        },
        run: `kubectl -n ${operatorNamespace} get secret viola-api-tls -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout -subject -issuer -enddate`,
      },
      {
        say: {
          en: 'If only `served` is old, Viola cannot read the new certificate, and its log has the cause. Viola reads it once a minute.',
          ko: '`served`만 오래되었다면 Viola가 새 인증서를 읽지 못한 것이며 원인은 로그에 있습니다. Viola는 1분마다 읽습니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'If the operator manages the certificate (`--viola-tls managed`), its log has the cause.',
          ko: '오퍼레이터가 관리하는 경우(`--viola-tls managed`) 갱신하지 못한 원인은 오퍼레이터 로그에 있습니다.',
        },
        run: logs.operator,
      },
    ],
    fix: [
      {
        en: 'If the operator manages the certificate, see [MultiNicAccessNotKept](MultiNicAccessNotKept.md). Otherwise renew the Secret `viola-api-tls`, or check the Certificate of cert-manager; no restart is needed.',
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
    summary: 'The {{ $labels.part }} lacks RBAC rights that it needs.',
    description: 'RBAC rights that the {{ $labels.part }} needs and does not have: {{ $value }}.',
    meaning: {
      en: 'The process checked each of its rights at the API server, and some are missing: a role was changed, or the release was installed only in part.',
      ko: '프로세스가 필요한 권한을 API 서버에서 하나씩 확인한 결과 일부가 없습니다. Role이 변경되었거나 릴리스가 일부만 설치된 상태입니다.',
    },
    impact: {
      en: 'The process is not ready, and the actions that it has no right for fail.',
      ko: '해당 프로세스는 Ready가 아니며, 권한이 없는 작업은 실패합니다.',
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
          en: 'Compare with the needed rights: [rights](../reference/rights.md).',
          ko: '필요한 권한과 비교합니다: [권한](../reference/rights.ko.md).',
        },
      },
    ],
    fix: [
      {
        en: 'Run `helm upgrade`: it restores the roles of the chart. The process notices this within 30 s.',
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
      'Rights that Viola needs in {{ $labels.provider }} and its registered account does not have: {{ $value }}.',
    meaning: {
      en: 'The account of the registration lacks rights in the namespace of the MultiNicNodeConfigs of that cluster.',
      ko: '등록된 계정에 해당 클러스터의 MultiNicNodeConfig 네임스페이스 권한이 부족합니다.',
    },
    impact: {
      en: 'Node configs in that cluster are not written. Other clusters are not affected.',
      ko: '해당 클러스터에 노드 설정이 기록되지 않습니다. 다른 클러스터에는 영향이 없습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'The log of Viola names each missing right.',
          ko: '부족한 권한은 Viola 로그에 나옵니다.',
        },
        run: logs.viola,
      },
      {
        say: {
          en: 'In the business cluster, check the role that the chart `multinic-agent` creates for Viola.',
          ko: '비즈니스 클러스터에서 `multinic-agent` 차트가 만드는 Viola의 Role을 확인합니다.',
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
    summary: 'The CRD {{ $labels.crd }} is older than MultiNIC.',
    description: 'Schema changes that the installed {{ $labels.crd }} lacks: {{ $value }}.',
    meaning: {
      en: 'MultiNIC was upgraded, but the CustomResourceDefinition was not.',
      ko: 'MultiNIC은 업그레이드되었지만 CRD는 이전 버전입니다.',
    },
    impact: {
      en: 'The API server drops unknown fields without an error. To lose no values, the process is not ready.',
      ko: 'API 서버는 모르는 필드를 오류 없이 버립니다. 값이 사라지지 않도록 프로세스는 Ready가 되지 않습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check which CRD is installed, and by which release.',
          ko: '설치된 CRD와 이를 설치한 릴리스를 확인합니다.',
        },
        run: "kubectl get crds openstackconfigs.multinic.example.com multinicnodeconfigs.multinic.io --ignore-not-found -o custom-columns='NAME:.metadata.name,SCHEMA:.metadata.annotations.multinic\\.io/schema,RELEASE:.metadata.annotations.meta\\.helm\\.sh/release-name'",
      },
    ],
    fix: [
      {
        en: 'Apply the CRDs of this version: `helm upgrade` with `crds.install=true` (and `--take-ownership` if another release installed them), or `make install`.',
        ko: '이 버전의 CRD를 적용하십시오: `crds.install=true`로 `helm upgrade`(다른 릴리스가 설치한 CRD이면 `--take-ownership` 추가) 또는 `make install`.',
      },
    ],
  },
  MultiNicLegacyListenerOn: {
    exprs: { 'multinic-operator': 'max by (cluster) (multinic_legacy_listener) == 1' },
    for: '3d',
    severity: 'info',
    summary: 'Viola still accepts node configs without a token.',
    description: 'The legacy listener of Viola has been on for three days.',
    meaning: {
      en: 'Viola runs with `--legacy-listener`, so the legacy operator, which sends no token, can reach it from the networks in `--legacy-allow-from`. Use this setting during a migration only.',
      ko: '토큰을 보내지 않는 기존 시스템의 오퍼레이터가 `--legacy-allow-from`의 네트워크에서 접속할 수 있도록 Viola가 `--legacy-listener`로 실행 중입니다. 마이그레이션 기간에만 사용하는 설정입니다.',
    },
    impact: {
      en: 'Every program in these networks can configure NICs of every node, over plain HTTP.',
      ko: '해당 네트워크의 모든 프로그램이 암호화되지 않은 HTTP로 모든 노드의 NIC를 설정할 수 있습니다.',
    },
    diagnosis: [
      {
        say: {
          en: 'Check whether the legacy operator still runs.',
          ko: '기존 시스템의 오퍼레이터가 아직 실행 중인지 확인합니다.',
        },
        run: 'kubectl get deployments -A | grep -i multinic',
      },
      {
        say: {
          en: 'Check which clients still call without a token.',
          ko: '토큰 없이 호출하는 클라이언트를 확인합니다.',
        },
        run: logs.viola,
      },
    ],
    fix: [
      {
        en: 'Finish the migration, then remove `viola.settings.legacyListener` from the values and upgrade the release.',
        ko: '마이그레이션을 마친 뒤 차트 값에서 `viola.settings.legacyListener`를 제거하고 릴리스를 업그레이드하십시오.',
      },
    ],
  },
} as const satisfies Alerts;
