import type { Wording } from '../../api/texts/text.ts';
import type { Fact, FactSource } from '../../explain/fact.ts';
import { same, say } from '../../explain/wording.ts';
import { AccessError } from '../../kube/access/access-error.ts';
import { KubeError } from '../../kube/errors.ts';
import { ApiError } from '../access/operator-api.ts';
import { Unread } from '../access/unread.ts';

export interface FactAbout {
  /** Name of the fact, such as "Nodes of biz-2". */
  readonly what: Wording;
  readonly source: FactSource;
  /** Command that grants the missing right to a user. */
  readonly grant: (user: string) => string;
  readonly now: Date;
}

/** Reads a fact. A failure is part of the fact, so that a command shows everything else. */
export async function factOf<T>(about: FactAbout, read: () => Promise<T>): Promise<Fact<T>> {
  try {
    return {
      state: 'read',
      value: await read(),
      source: about.source,
      at: about.now.toISOString(),
    };
  } catch (error) {
    return { state: 'unread', what: about.what, ...explained(error, about.grant) };
  }
}

/** Cause and next step of a failed read. */
interface Explained {
  readonly why: Wording;
  readonly next: Wording;
}

/** Returns the cause and the next step for a failed read. Rethrows errors of this program. */
export function explained(error: unknown, grant: (user: string) => string): Explained {
  if (error instanceof Unread) return { why: error.why, next: error.next };
  if (error instanceof AccessError) return { why: same(error.message), next: same(error.next) };
  if (error instanceof KubeError) return ofKube(error, grant);
  if (error instanceof ApiError) return ofApi(error);
  throw error;
}

/** kubectl connects to this address without a kubeconfig. */
const kubectlDefault = /dial tcp (127\.0\.0\.1|\[::1\]):8080:/;

function ofKube(error: KubeError, grant: (user: string) => string): Explained {
  const { status, message, reason } = error;
  if (status === 403) {
    return {
      why: say('no access (403)', '접근 권한이 없습니다(403)'),
      next: same(grant(userIn(message))),
    };
  }
  if (status === 401) {
    return {
      why: say('the credentials are not accepted (401)', '자격 증명이 거부되었습니다(401)'),
      next: say('log in to the cluster again', '클러스터에 다시 로그인하십시오'),
    };
  }
  if (status === 404) {
    return {
      why: say(
        'the cluster does not serve this kind (404)',
        '클러스터가 이 리소스 종류를 제공하지 않습니다(404)',
      ),
      next: say(
        'check the context with --context; if it is right, install the CRDs of MultiNIC',
        '--context의 context를 확인하십시오. 맞으면 MultiNIC의 CRD를 설치하십시오',
      ),
    };
  }
  if (kubectlDefault.test(message)) {
    return {
      why: say(
        'no kubeconfig, or none with a current context: kubectl connects to localhost:8080',
        'kubeconfig가 없거나 현재 context가 없습니다. kubectl이 localhost:8080에 연결합니다',
      ),
      next: say(
        'log in to the cluster with its own tool, or give --kubeconfig PATH or --context NAME',
        '클러스터의 자체 도구로 로그인하거나 --kubeconfig PATH 또는 --context NAME을 지정하십시오',
      ),
    };
  }
  return {
    // kubectl proxy ends the cause of an unreachable server with a line break.
    why: same(`${reason}: ${message.replaceAll(/\s+/g, ' ')}`),
    next: say(
      'check that the API server is reachable, and try again',
      'API 서버에 연결할 수 있는지 확인하고 다시 시도하십시오',
    ),
  };
}

/** Returns the user's name from the API server's message; else a placeholder. */
function userIn(message: string): string {
  return /User "([^"]+)"/.exec(message)?.[1] ?? 'USER';
}

/** Next steps by the reason of the operator's answer. */
const nextByReason: Readonly<Record<string, Wording>> = {
  NotLeading: say(
    'wait until a replica leads (15 s), and try again',
    '리더가 정해질 때까지(15초) 기다린 뒤 다시 시도하십시오',
  ),
  NoJson: say(
    'another server or a proxy answers at this address: check --inventory and the proxy settings',
    '이 주소에서 다른 서버나 프록시가 응답합니다. --inventory와 프록시 설정을 확인하십시오',
  ),
  PortUnread: say(
    'find the OpenstackConfig whose cloud cannot be read with: kubectl multinic doctor; then try again',
    '클라우드를 조회하지 못하는 OpenstackConfig를 찾아 해결한 뒤 다시 시도하십시오: kubectl multinic doctor',
  ),
  NodeUnread: say(
    'check the connection of Viola to the business cluster with: kubectl multinic doctor; then try again',
    'Viola와 비즈니스 클러스터의 연결을 확인한 뒤 다시 시도하십시오: kubectl multinic doctor',
  ),
};

const seeLog = say(
  "see the operator's log, and try again",
  '오퍼레이터의 로그를 확인하고 다시 시도하십시오',
);

const upgrade = say(
  'upgrade the operator, see docs/guides/upgrade.md',
  '오퍼레이터를 업그레이드하십시오(docs/guides/upgrade.ko.md 참고)',
);

const otherToken = say(
  'use a token with the verb for this route: --token-file FILE',
  '이 경로의 verb가 있는 토큰을 지정하십시오: --token-file FILE',
);

function ofApi(error: ApiError): Explained {
  return { why: causeOf(error), next: nextOfApi(error) };
}

function causeOf({ isMissingRoute, status, message, reason }: ApiError): Wording {
  if (isMissingRoute) {
    return say(
      'this operator is older and lacks the route',
      '오퍼레이터가 이전 버전이어서 이 경로가 없습니다',
    );
  }
  return isDenied(status, reason)
    ? say(`not allowed (${status}): ${message}`, `권한이 없습니다(${status}): ${message}`)
    : same(message);
}

/** Returns the next step for a failed request to the operator. */
export function nextOfApi({ isMissingRoute, status, reason }: ApiError): Wording {
  if (isMissingRoute) return upgrade;
  return isDenied(status, reason) ? otherToken : (nextByReason[reason] ?? seeLog);
}

function isDenied(status: number, reason: string): boolean {
  return (status === 401 || status === 403) && reason !== 'NoJson';
}
