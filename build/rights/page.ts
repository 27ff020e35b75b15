import { commandRoles } from '../../src/cli/rights.ts';
import { controllerRights } from '../../src/controller/rights.ts';
import { qualified, type Right, type RightsTable } from '../../src/kube/rights.ts';
import { lifecycleRights } from '../../src/lifecycle/rights.ts';
import { operatorRights } from '../../src/operator/rights.ts';
import { violaRights, writerRights } from '../../src/viola/rights.ts';

type Language = 'en' | 'ko';

const places: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  cluster: { en: 'outside of namespaces', ko: '네임스페이스 밖' },
  configs: {
    en: 'all namespaces, or `watchNamespace`',
    ko: '모든 네임스페이스 또는 `watchNamespace`',
  },
  own: { en: 'its own namespace', ko: '자신의 네임스페이스' },
  access: { en: 'its own namespace', ko: '자신의 네임스페이스' },
  secrets: { en: '`secretNamespaces`', ko: '`secretNamespaces`' },
  brokerSecrets: { en: '`secretNamespaces`', ko: '`secretNamespaces`' },
  registrations: { en: '`registrationsNamespace`', ko: '`registrationsNamespace`' },
  objects: { en: 'that of the node configs', ko: '노드 설정의 네임스페이스' },
  agents: { en: '`agentNamespace`', ko: '`agentNamespace`' },
  kubeSystem: { en: '`kube-system`', ko: '`kube-system`' },
  apiServer: { en: '`default`', ko: '`default`' },
};

const conditions: Readonly<Record<string, Readonly<Record<Language, string>>>> = {
  everywhere: { en: 'without `watchNamespace`', ko: '`watchNamespace`가 없을 때' },
  oneNamespace: { en: 'with `watchNamespace`', ko: '`watchNamespace`가 있을 때' },
  managedTokens: { en: 'with `--viola-access managed`', ko: '`--viola-access managed`일 때' },
  rabbitmqSecrets: { en: 'with `--rabbitmq-secrets true`', ko: '`--rabbitmq-secrets true`일 때' },
  managedCertificates: { en: 'with `--viola-tls managed`', ko: '`--viola-tls managed`일 때' },
};

const words = {
  en: {
    title: 'Rights',
    columns: ['Where', 'Resource', 'Names', 'Verbs', 'Why'],
    rarely: 'rarely',
    optional: 'optional',
    parts: {
      operator: 'Operator, in the management cluster',
      lifecycle: 'Lifecycle, in the management cluster (chart value `lifecycle.enabled`)',
      viola: 'Viola, in the management cluster',
      writer: 'Viola, in a business cluster',
      controller: 'Controller, in a business cluster',
    },
    about: `What each part has to be allowed, and nothing more is granted: \`deploy/rbac\` and the charts are generated from the same
tables. The agent has no API credential at all. Nobody may do anything with \`*\`; Secrets are listed in the namespace of the
registrations only, which holds nothing else; lifecycle follows two Secrets by their names.

At its start, and every ten minutes, a part asks the API server for each of these rights (SelfSubjectAccessReview; every identity
may ask). One that is missing is

- in its log (\`RightsMissing\`), with the role that it belongs into and a command that adds it,
- in an Event on its Pod, when the Pod's manifest says \`POD_NAME\`, \`POD_NAMESPACE\` and \`POD_UID\`,
- in the metric \`multinic_rights_missing\`,
- and the part is not ready: \`/readyz\` names it. It goes on working as far as it can, and asks every 30 s, so that a right that was
  granted needs no restart.

An API server that does not answer, or that lets nobody ask, says nothing about rights: nothing is missing then. What Viola may
not do in a business cluster is in its log, in \`GET /v1/k8s/clusters\` and in the metric; Viola stays ready, because other clusters
are not worse for it. With \`--self-check false\` nobody asks. A right marked \`optional\` may be missing: the part skips what needs it,
logs one warning and stays ready.

Each part looks at its own kind too: \`multinic.io/schema\` on the CustomResourceDefinition counts how often fields were added. Lower
than the part expects (\`CRDTooOld\`), fields that it writes would be dropped in silence: it is not ready until the definitions of
its version are applied. Higher (\`CRDTooNew\`) is only told. Viola has no right to look: the controller of the cluster does.`,
  },
  ko: {
    title: '권한',
    columns: ['위치', '리소스', '이름', '동사', '이유'],
    rarely: '드물게 사용',
    optional: '선택',
    parts: {
      operator: '오퍼레이터, 관리 클러스터',
      lifecycle: 'Lifecycle, 관리 클러스터(차트 값 `lifecycle.enabled`)',
      viola: 'Viola, 관리 클러스터',
      writer: 'Viola, 비즈니스 클러스터',
      controller: '컨트롤러, 비즈니스 클러스터',
    },
    about: `각 구성 요소에 필요한 권한이며 그 이상은 부여하지 않습니다. \`deploy/rbac\`와 차트는 같은 표에서 생성됩니다. 에이전트에는 API 자격 증명이
없습니다. \`*\`는 어디에도 없으며, Secret 목록은 등록 전용 네임스페이스에서만 조회하고,
lifecycle은 이름이 정해진 Secret 두 개만 감시합니다.

각 구성 요소는 시작할 때와 10분마다 API 서버에 이 권한들을 묻습니다(SelfSubjectAccessReview, 모든 계정이 물을 수 있습니다). 부족한 권한은

- 로그(\`RightsMissing\`)에 해당 역할과 추가 명령과 함께 남고,
- Pod 매니페스트에 \`POD_NAME\`, \`POD_NAMESPACE\`, \`POD_UID\`가 있으면 Pod의 Event로 남으며,
- 메트릭 \`multinic_rights_missing\`에 나타나고,
- 구성 요소는 Ready가 아니게 됩니다(\`/readyz\`에 이름이 나옵니다). 할 수 있는 일은 계속하고 30초마다 다시 물으므로, 권한을 부여하면
  재시작이 필요 없습니다.

API 서버가 답하지 않거나 질문을 허용하지 않으면 권한이 없다고 보지 않습니다. Viola가 비즈니스 클러스터에서 할 수 없는 일은 로그,
\`GET /v1/k8s/clusters\`, 메트릭에 나타나며 Viola는 Ready로 남습니다. \`--self-check false\`이면 묻지 않습니다. \`선택\`으로 표시된 권한은
없어도 됩니다. 구성 요소는 그 권한이 필요한 일을 건너뛰고 경고를 한 번 남기며 Ready로 남습니다.

각 구성 요소는 자신의 CRD도 확인합니다. CustomResourceDefinition의 \`multinic.io/schema\`는 필드가 추가된 횟수입니다. 구성 요소가 기대하는 값보다
낮으면(\`CRDTooOld\`) 기록한 필드가 조용히 사라지므로, 해당 버전의 정의를 적용할 때까지 Ready가 아닙니다. 높으면(\`CRDTooNew\`) 알리기만
합니다. Viola에는 이를 볼 권한이 없으며 그 클러스터의 컨트롤러가 확인합니다.`,
  },
} as const;

/** Page with tables of rights, with a section per identity. */
export function rightsPage(language: Language): string {
  const { title, about, parts } = words[language];
  const tables: Readonly<Record<keyof typeof parts, RightsTable>> = {
    operator: operatorRights,
    lifecycle: lifecycleRights('multinic-system'),
    viola: violaRights,
    writer: writerRights,
    controller: controllerRights('multinic-system'),
  };
  const sections = Object.entries(tables).map(
    ([part, { rights }]) => `## ${parts[part as keyof typeof parts]}\n\n${table(rights, language)}`,
  );
  const note = '<!-- Generated by `npm run generate` from src. Do not edit. -->\n\n';
  return `${note}# ${title}\n\n${about}\n\n${sections.join('\n')}\n${usersSection(language)}`;
}

function table(rights: readonly Right[], language: Language): string {
  const { columns, rarely, optional: dispensable } = words[language];
  const rows = rights.map(
    ({ where, names = [], verbs, why, when, rare, optional, ...resource }) => {
      const frequency = rare ? rarely : '';
      const notes = [
        when === undefined ? '' : conditions[when]?.[language],
        optional ? dispensable : frequency,
      ];
      const conditional = notes.filter((one) => one).join(', ');
      return [
        places[where]?.[language] ?? where,
        `\`${qualified(resource)}\``,
        names.map((name) => `\`${name}\``).join(' '),
        verbs.join(', '),
        conditional === '' ? why[language] : `${why[language]} (${conditional})`,
      ];
    },
  );
  const lines = [columns, columns.map(() => '---'), ...rows];
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}

const users = {
  en: {
    title: 'Users of `kubectl multinic`',
    about: `\`multinic-view\` and \`multinic-edit\` are part of the Kubernetes roles \`view\` and \`edit\`; in a business cluster they are named
\`multinic-agent-view\` and \`multinic-agent-edit\`. An administrator binds the Role \`multinic-reader\` in the operator's namespace: it
allows port-forward to the operator, which shows the NICs of all business clusters. Every command with \`--business-context\` reads
Nodes, Deployments, Jobs and Pods there.`,
    columns: ['Command', 'Roles'],
  },
  ko: {
    title: '`kubectl multinic` 사용자',
    about: `\`multinic-view\`와 \`multinic-edit\`는 Kubernetes의 \`view\`와 \`edit\` 역할에 포함됩니다. 비즈니스 클러스터에서는 이름이
\`multinic-agent-view\`와 \`multinic-agent-edit\`입니다. 오퍼레이터 네임스페이스의 Role \`multinic-reader\`는 관리자가 바인딩합니다. 이 Role은
오퍼레이터로의 port-forward를 허용하며, 모든 비즈니스 클러스터의 NIC를 볼 수 있습니다. \`--business-context\`를 지정한 명령은 그 클러스터의
Node, Deployment, Job, Pod를 조회합니다.`,
    columns: ['명령', '역할'],
  },
} as const;

/** Returns the roles by command. */
function usersSection(language: Language): string {
  const { title, about, columns } = users[language];
  const rows = Object.entries(commandRoles).map(([command, roles]) => [
    `\`${command}\``,
    roles.map((role) => `\`${role}\``).join(', '),
  ]);
  const lines = [columns, columns.map(() => '---'), ...rows];
  const text = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `## ${title}\n\n${about}\n\n${text}\n`;
}
