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
  const note = isIdentified
    ? ''
    : `\n${filled(screensTexts.clusterUnidentified, { namespace: identityNamespace })[lang]}`;
  return filled(screensTexts.clusterRegistered, { namespace, expires, provider, note })[lang];
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
  const { provider, namespace, serviceAccount, registrationsNamespace, server } = registration;
  return filled(screensTexts.registrationPlan, {
    ...servers,
    provider,
    namespace,
    account: serviceAccount,
    lifetime: tokenLifetime,
    identityNamespace,
    identityRole: identityRoleName(serviceAccount),
    registrations: registrationsNamespace,
    label: labels.providerId,
    server,
  })[lang];
}
