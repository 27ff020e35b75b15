import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { accessTexts } from '../../api/texts/access.ts';
import { filled, type Wording } from '../../api/texts/text.ts';
import type { KubeError } from '../../kube/errors.ts';
import { type Grant, requestTo } from '../access/grants.ts';
import { sharedUsers } from '../access/shared-users.ts';

/** Cause and next step of a failed read. */
export interface Explained {
  readonly why: Wording;
  readonly next: Wording;
}

/** Right and place after a failed read, for the next step. */
export interface ReadContext {
  readonly grant: Grant;
  /** The source's URL, kubeconfig path or context. */
  readonly place: string;
  /** Path of the kubeconfig, or a list; undefined: the source needs none. */
  readonly kubeconfig: string | undefined;
}

/** kubectl connects to this address without a kubeconfig. */
const kubectlDefault = /dial tcp (127\.0\.0\.1|\[::1\]):8080:/;

/** Returns why an API server gave no usable answer, and what the user does. */
export function ofKube(error: KubeError, { grant, kubeconfig = '' }: ReadContext): Explained {
  const { status, message } = error;
  if (status === 403) {
    return { why: accessTexts.forbidden, next: requestTo(grant, message) };
  }
  if (status === 401) return { why: accessTexts.unauthorized, next: afterUnauthorized(kubeconfig) };
  if (status === 404) return { why: accessTexts.kindNotServed, next: accessTexts.checkContext };
  if (kubectlDefault.test(message)) return { why: noContext(kubeconfig), next: accessTexts.logIn };
  // kubectl's text for an exec plugin without credentials.
  if (message.includes('getting credentials: ')) {
    const why = filled(accessTexts.noCredentials, { text: plainMessage(error) });
    return { why, next: accessTexts.logInAgain };
  }
  return { why: kubeCause(error), next: accessTexts.checkApiServer };
}

function afterUnauthorized(kubeconfig: string): Wording {
  const users = sharedUsers(kubeconfig);
  return users.length === 0
    ? accessTexts.logInAgain
    : filled(accessTexts.equalUserNames, { users: users.join(', '), kubeconfig });
}

function noContext(kubeconfig: string): Wording {
  const exists = kubeconfig.split(delimiter).some((path) => existsSync(path));
  const text = exists ? accessTexts.noCurrentContext : accessTexts.noSuchKubeconfig;
  return filled(text, { kubeconfig });
}

/** Returns the API server's message without request path and internal reason. */
export function plainMessage({ message }: KubeError): string {
  return (
    message
      // kubectl proxy ends the cause of an unreachable server with a line break.
      .replaceAll(/\s+/g, ' ')
      .replace(/^(?:[A-Z]+ \/\S*|reading a \w+|listing \/\S*): /, '')
      .replace(/ \(\d+ \w+\)$/, '')
      .trim()
  );
}

function kubeCause(error: KubeError): Wording {
  const { status, reason } = error;
  const text = plainMessage(error);
  if (reason === 'InvalidAnswer') return filled(accessTexts.invalidAnswer, { text });
  // kubectl proxy reports a failed connection with status 500 or 502 and text.
  const isOfProxy = status >= 500 && reason === `Http${status}`;
  return status > 0 && !isOfProxy
    ? filled(accessTexts.answered, { status, text })
    : filled(accessTexts.noConnection, { text });
}
