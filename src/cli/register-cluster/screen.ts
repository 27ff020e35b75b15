import { identityNamespace, labels } from '../../api/names.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import type { CommonOptions } from '../options.ts';
import { print, reportText } from '../output/print.ts';
import type { Registered } from './register.ts';
import { identityRoleName, type Registration } from './registration.ts';

export interface ScreenOptions extends Pick<CommonOptions, 'output' | 'lang'> {
  readonly tokenLifetime: string;
}

export const question = { en: 'Register the cluster?', ko: '클러스터를 등록할까요?' } as const;

/** Output of a registration: a plan before any change, then the result. */
export interface Screen {
  readonly plan: (text: string) => void;
  /** `registered` undefined: nothing was changed. */
  readonly result: (registration: Registration, registered: Registered | undefined) => void;
}

/** A program reads a single report from standard output; the plan is then on standard error. */
export function screenOf({ output, lang }: ScreenOptions): Screen {
  if (output !== 'json' && output !== 'yaml') {
    return {
      plan: print,
      result: (registration, registered) => print(resultText(registration, registered, lang)),
    };
  }
  return {
    plan: (text) => console.error(text),
    result: (registration, registered) =>
      print(reportText(reportOf(registration, registered), output)),
  };
}

function reportOf(registration: Registration, registered: Registered | undefined) {
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  const item = {
    providerId: provider,
    namespace,
    serviceAccount,
    registrationsNamespace,
    server,
    registered: registered !== undefined,
    ...(registered && { expires: registered.expires, identified: registered.isIdentified }),
  };
  return { kind: 'ClusterRegistration', items: [item], findings: [], skipped: [] };
}

function resultText(
  { namespace, provider }: Registration,
  registered: Registered | undefined,
  lang: ScreenOptions['lang'],
): string {
  if (registered === undefined) {
    return screensTexts.planAccepted[lang];
  }
  const { expires, isIdentified } = registered;
  const note = isIdentified ? '' : `\n${unidentified[lang]}`;
  return filled(screensTexts.clusterRegistered, { namespace, expires, provider, note })[lang];
}

const unidentified = {
  en: `Note: your user may not create Roles in namespace ${identityNamespace}, so Viola cannot read the uid of the cluster and does not notice a second registration of this cluster. To grant the right later, run the command as an administrator.`,
  ko: `참고: 이 사용자는 네임스페이스 ${identityNamespace}에 Role을 만들 수 없어 Viola가 클러스터의 uid를 읽지 못하며, 같은 클러스터가 다시 등록되어도 알 수 없습니다. 나중에 권한을 주려면 관리자 계정으로 명령을 다시 실행하십시오.`,
} as const;

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
    `In ${servers.business}, namespace ${identityNamespace}, if your user may do this:`,
    `  Role and RoleBinding ${identityRoleName(serviceAccount)}: get of Namespace ${identityNamespace}, whose uid identifies the cluster`,
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
    `${servers.business}의 네임스페이스 ${identityNamespace}(사용자에게 권한이 있을 때):`,
    `  Role과 RoleBinding ${identityRoleName(serviceAccount)}: 클러스터를 식별하는 uid가 있는 Namespace ${identityNamespace}의 get`,
    '',
    `${servers.management}의 네임스페이스 ${registrationsNamespace}:`,
    `  Secret ${provider}, 레이블 ${labels.providerId}=${provider}: 이 토큰이 있는 ${server}의 kubeconfig`,
    '',
  ].join('\n');
}
