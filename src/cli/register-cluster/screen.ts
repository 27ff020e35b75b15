import { labels } from '../../api/names.ts';
import type { CommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import type { Registration } from './registration.ts';

export interface ScreenOptions extends Pick<CommonOptions, 'output' | 'lang'> {
  readonly tokenLifetime: string;
}

export const question = { en: 'Register the cluster?', ko: '클러스터를 등록할까요?' } as const;

/** Output of a registration: a plan before any change, then the result. */
export interface Screen {
  readonly plan: (text: string) => void;
  /** `expires`: end of the token; undefined: nothing was changed. */
  readonly result: (registration: Registration, expires: string | undefined) => void;
}

/** A program reads a single report from standard output; the plan is then on standard error. */
export function screenOf({ output, lang }: ScreenOptions): Screen {
  if (output !== 'json' && output !== 'yaml') {
    return {
      plan: print,
      result: (registration, expires) => print(resultText(registration, expires, lang)),
    };
  }
  return {
    plan: (text) => console.error(text),
    result: (registration, expires) => print(reportText(reportOf(registration, expires), output)),
  };
}

function reportOf(registration: Registration, expires: string | undefined) {
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  const item = {
    providerId: provider,
    namespace,
    serviceAccount,
    registrationsNamespace,
    server,
    registered: expires !== undefined,
    ...(expires === undefined ? {} : { expires }),
  };
  return { kind: 'ClusterRegistration', items: [item], findings: [], skipped: [] };
}

function resultText(
  { namespace, provider }: Registration,
  expires: string | undefined,
  lang: ScreenOptions['lang'],
): string {
  if (expires === undefined) {
    return lang === 'ko'
      ? '두 API 서버가 계획을 받아들입니다. 아무것도 변경하지 않았습니다(--dry-run).'
      : 'Both API servers accept the plan. Nothing was changed (--dry-run).';
  }
  return lang === 'ko'
    ? `등록했습니다. 토큰은 네임스페이스 ${namespace}의 MultiNicNodeConfig를 읽을 수 있으며 ${expires}까지 유효합니다.
다음 조치: OpenstackConfig의 credentials.k8sProviderID를 ${provider}로 설정하십시오.`
    : `Registered: the token can read MultiNicNodeConfigs in namespace ${namespace}, and is valid until ${expires}.
Next: set credentials.k8sProviderID of an OpenstackConfig to ${provider}.`;
}

/** API servers as URLs. */
interface Servers {
  readonly business: string;
  readonly management: string;
}

/** Returns the plan, printed before any change. */
export function planText(
  registration: Registration,
  servers: Servers,
  { tokenLifetime, lang }: ScreenOptions,
): string {
  return lang === 'ko'
    ? planInKorean(registration, servers, tokenLifetime)
    : planInEnglish(registration, servers, tokenLifetime);
}

function planInEnglish(registration: Registration, servers: Servers, lifetime: string): string {
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  return [
    `Registers the business cluster ${servers.business} as provider ${provider}.`,
    '',
    `In ${servers.business}, namespace ${namespace}:`,
    `  ServiceAccount ${serviceAccount}`,
    `  Role ${serviceAccount}: get, list, create, patch, delete of multinicnodeconfigs; create of its own token; get of ConfigMap multinic-cluster-networks`,
    `  RoleBinding ${serviceAccount}`,
    `  a token of ${serviceAccount}, valid for ${lifetime}; Viola renews it after half of this time`,
    '',
    `In ${servers.management}, namespace ${registrationsNamespace}:`,
    `  Secret ${provider}, label ${labels.providerId}=${provider}: a kubeconfig for ${server} with that token`,
    '',
  ].join('\n');
}

function planInKorean(registration: Registration, servers: Servers, lifetime: string): string {
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  return [
    `비즈니스 클러스터 ${servers.business}를 프로바이더 ${provider}로 등록합니다.`,
    '',
    `${servers.business}의 네임스페이스 ${namespace}:`,
    `  ServiceAccount ${serviceAccount}`,
    `  Role ${serviceAccount}: multinicnodeconfigs의 get, list, create, patch, delete, 자체 토큰의 create, ConfigMap multinic-cluster-networks의 get`,
    `  RoleBinding ${serviceAccount}`,
    `  ${serviceAccount}의 토큰, 유효 기간 ${lifetime}. Viola가 기간의 절반이 지나면 갱신합니다`,
    '',
    `${servers.management}의 네임스페이스 ${registrationsNamespace}:`,
    `  Secret ${provider}, 레이블 ${labels.providerId}=${provider}: 이 토큰이 있는 ${server}의 kubeconfig`,
    '',
  ].join('\n');
}
